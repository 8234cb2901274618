// host-sync-in-forward: forward waits for the device.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "analysis/once.h"

namespace hone {

void CheckHostSyncInForward(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  const Scopes& scopes = *candidate.python->scopes;
  for (const PyNode* function : candidate.python->flow.host_functions) {
    if (function->name == "__init__") continue;
    WalkPython(function, [&](const PyNode* node) {
      if (!node->Is(PyKind::kCall) || node->value == nullptr || !node->value->Is(PyKind::kAttribute))
        return true;
      const std::string_view method = node->value->name;
      const std::string dotted = scopes.Resolve(node->value);
      const bool sync = dotted == "torch.cuda.synchronize" || (method == "synchronize" && node->args.empty());
      const bool copy = node->args.empty() && node->keywords.empty() &&
                        (method == "item" || method == "cpu" || method == "tolist" || method == "numpy");
      if ((!sync && !copy) || RunsOnce(node)) return true;
      sink->Add(node, Severity::kWarning,
                fmt::format("{} waits for the device in {}", TextOf(candidate, node->value), function->name),
                sync ? "Remove it; launches on one stream are already in order."
                     : "Keep the value on the device, or compute it from shapes.");
      return true;
    });
  }
}

}  // namespace hone

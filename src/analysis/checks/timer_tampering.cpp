// timer-tampering: the candidate replaces functions that measure time or compare results.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "base/text.h"

namespace hone {

void CheckTimerTampering(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  const Scopes& scopes = *candidate.python->scopes;
  const auto is_clock = [](const std::string& dotted) {
    return dotted == "torch.cuda.synchronize" || dotted == "torch.cuda.Event" ||
           StartsWith(dotted, "torch.cuda.Event.") || StartsWith(dotted, "time.") ||
           StartsWith(dotted, "torch.utils.benchmark") || StartsWith(dotted, "triton.testing") ||
           StartsWith(dotted, "torch.cuda.Stream") || dotted == "torch.cuda.current_stream" ||
           dotted == "torch.allclose" || dotted == "torch.testing.assert_close" || dotted == "torch.isclose";
  };
  WalkPython(candidate.python->tree.module, [&](const PyNode* node) {
    if (node->Is(PyKind::kAssign))
      for (const PyNode* target : node->args) {
        const std::string dotted = target->Is(PyKind::kAttribute) ? scopes.Resolve(target) : "";
        if (!dotted.empty() && is_clock(dotted))
          sink->Add(node, Severity::kWarning,
                    fmt::format("the code replaces {}, which is used to measure times or results", dotted),
                    "Remove the assignment.");
      }
    if (node->Is(PyKind::kCall) && node->value != nullptr && node->value->IsName("setattr") &&
        node->args.size() >= 2) {
      const std::string dotted = scopes.Resolve(node->args[0]) + "." +
                                 (node->args[1]->Is(PyKind::kString) ? node->args[1]->string : "");
      if (is_clock(dotted))
        sink->Add(node, Severity::kWarning,
                  fmt::format("the code replaces {}, which is used to measure times or results", dotted),
                  "Remove the assignment.");
    }
    return true;
  });
  // A clock around the call does not measure work on another stream or thread.
  for (const PyNode* call : scopes.calls()) {
    const std::string dotted = scopes.Resolve(call->value);
    if (dotted == "torch.cuda.Stream" || dotted == "torch.cuda.stream" || dotted == "threading.Thread" ||
        StartsWith(dotted, "concurrent.futures."))
      sink->Add(call, Severity::kNote, fmt::format("{} can move work out of the timed call", dotted),
                "Run on the current stream, in the calling thread.");
  }
}

}  // namespace hone

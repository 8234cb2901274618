// reads-the-harness: the candidate inspects its caller, or looks for the values it is compared with.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "base/text.h"

namespace hone {

void CheckReadsTheHarness(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  const Scopes& scopes = *candidate.python->scopes;
  for (const PyNode* call : scopes.calls()) {
    const std::string dotted = scopes.Resolve(call->value);
    const bool looks = StartsWith(dotted, "inspect.stack") || StartsWith(dotted, "inspect.currentframe") ||
                       dotted == "sys._getframe" || StartsWith(dotted, "gc.get_") ||
                       dotted == "traceback.extract_stack" || StartsWith(dotted, "inspect.getouterframes");
    if (looks)
      sink->Add(call, Severity::kWarning,
                fmt::format("{} reads the state of the program that runs the candidate", dotted),
                "Remove it.");
  }
  WalkPython(candidate.python->tree.module, [&](const PyNode* node) {
    const std::string dotted = node->Is(PyKind::kAttribute) ? scopes.Resolve(node) : "";
    if (dotted == "sys.modules" || dotted == "sys.argv")
      sink->Add(node, Severity::kWarning,
                fmt::format("{} reads the state of the program that runs the candidate", dotted),
                "Remove it.");
    if (node->Is(PyKind::kAttribute) &&
        (node->name == "f_back" || node->name == "f_locals" || node->name == "f_globals"))
      sink->Add(node, Severity::kWarning, fmt::format(".{} reads another function's variables", node->name),
                "Remove it.");
    return true;
  });
}

}  // namespace hone

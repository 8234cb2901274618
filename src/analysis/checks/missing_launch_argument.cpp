// missing-launch-argument: a launch omits a parameter that nothing else supplies.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "base/text.h"

namespace hone {

void CheckMissingLaunchArgument(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  for (const auto& launch : candidate.python->kernels->launches()) {
    if (launch->missing.empty() || !launch->complete || !launch->kernel->configs_known) continue;
    const bool one = launch->missing.size() == 1;
    sink->Add(
        launch->call, launch->runs ? Severity::kError : Severity::kWarning,
        fmt::format("the launch of {} does not pass {}", launch->kernel->name, Join(launch->missing, ", ")),
        fmt::format("Pass {}, or give {} a default in the kernel.", Join(launch->missing, ", "),
                    one ? "it" : "them"));
  }
}

}  // namespace hone

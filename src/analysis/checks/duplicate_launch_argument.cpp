// duplicate-launch-argument: a parameter gets a value twice.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"

namespace hone {

void CheckDuplicateLaunchArgument(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  for (const auto& launch : candidate.python->kernels->launches()) {
    for (const PyNode* keyword : launch->duplicate) {
      // autotune-redefined reports a tuned parameter that is passed by position and again by keyword.
      if (launch->kernel->supplied.count(std::string(keyword->name)) != 0) continue;
      sink->Add(keyword, launch->runs ? Severity::kError : Severity::kWarning,
                fmt::format("the launch of {} passes {} twice: by position and by keyword",
                            launch->kernel->name, keyword->name),
                fmt::format("Remove one of the two; the positional arguments before it already fill {}.",
                            keyword->name));
    }
  }
}

}  // namespace hone

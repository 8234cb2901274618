// unchecked-launch: a CUDA launch without an error check.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"

namespace hone {

void CheckUncheckedLaunch(const Candidate& candidate, FindingSink* sink) {
  for (const CudaUnit& unit : candidate.cuda) {
    for (const CudaLaunch& launch : unit.launches) {
      if (launch.checked) continue;
      sink->AddAt(
          unit.OuterStart(launch.node), unit.OuterEnd(launch.node), Severity::kWarning,
          fmt::format(
              "the launch of {} is not followed by an error check: a failed launch returns old memory",
              launch.kernel),
          "Add C10_CUDA_KERNEL_LAUNCH_CHECK(); after it.");
      break;
    }
  }
}

}  // namespace hone

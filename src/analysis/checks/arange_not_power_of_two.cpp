// arange-not-power-of-two: block extents have to be powers of two.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"

namespace hone {

void CheckArangeNotPowerOfTwo(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  for (const KernelTrace& trace : candidate.python->traces)
    for (const KernelProblem& problem : trace.problems)
      if (problem.kind == ProblemKind::kArangeNotPowerOfTwo)
        sink->AddProblem(problem,
                         fmt::format("{}, which is not a power of two{}", problem.detail,
                                     Circumstances(candidate, problem)),
                         problem.fix);
}

}  // namespace hone

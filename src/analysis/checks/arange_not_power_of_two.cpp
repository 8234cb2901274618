// arange-not-power-of-two: block extents must be powers of two.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"

namespace hone {

void CheckArangeNotPowerOfTwo(const Candidate& candidate, FindingSink* sink) {
  ReportProblems(candidate, ProblemKind::kArangeNotPowerOfTwo, sink,
                 [&](const KernelTrace&, const KernelProblem& problem) {
                   return fmt::format("{}, which is not a power of two{}", problem.detail,
                                      Circumstances(candidate, problem));
                 });
}

}  // namespace hone

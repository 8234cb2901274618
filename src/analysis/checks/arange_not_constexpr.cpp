// arange-not-constexpr: the extent of a block must be known at compile time.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"

namespace hone {

void CheckArangeNotConstexpr(const Candidate& candidate, FindingSink* sink) {
  ReportProblems(candidate, ProblemKind::kArangeNotConstexpr, sink,
                 [&](const KernelTrace&, const KernelProblem& problem) {
                   return fmt::format("{} needs compile-time numbers, but {}",
                                      TextOf(candidate, problem.node->value), problem.detail);
                 });
}

}  // namespace hone

// arange-not-constexpr: the extent of a block has to be known when the kernel is compiled.
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

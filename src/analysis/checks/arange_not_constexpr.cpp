// arange-not-constexpr: the extent of a block has to be known when the kernel is compiled.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"

namespace hone {

void CheckArangeNotConstexpr(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  for (const KernelTrace& trace : candidate.python->traces)
    for (const KernelProblem& problem : trace.problems)
      if (problem.kind == ProblemKind::kArangeNotConstexpr)
        sink->AddProblem(problem,
                         fmt::format("{} needs compile-time numbers, but {}",
                                     TextOf(candidate, problem.node->value), problem.detail),
                         problem.fix);
}

}  // namespace hone

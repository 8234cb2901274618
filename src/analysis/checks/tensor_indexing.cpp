// tensor-indexing: blocks have no elements to index; only [:, None] and the like are allowed.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"

namespace hone {

void CheckTensorIndexing(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  for (const KernelTrace& trace : candidate.python->traces)
    for (const KernelProblem& problem : trace.problems)
      if (problem.kind == ProblemKind::kTensorIndexing)
        sink->AddProblem(problem, fmt::format("{} {}", trace.kernel->name, problem.detail), problem.fix);
}

}  // namespace hone

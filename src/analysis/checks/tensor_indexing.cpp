// tensor-indexing: blocks have no elements to index; only [:, None] and the like are allowed.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"

namespace hone {

void CheckTensorIndexing(const Candidate& candidate, FindingSink* sink) {
  ReportProblems(candidate, ProblemKind::kTensorIndexing, sink,
                 [](const KernelTrace& trace, const KernelProblem& problem) {
                   return fmt::format("{} {}", trace.kernel->name, problem.detail);
                 });
}

}  // namespace hone

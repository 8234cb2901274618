// tensor-indexing: blocks do not support element indices, only [:, None] and the like.
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

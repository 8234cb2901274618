// incompatible-block-shapes: operands with incompatible shapes or types.
#include "analysis/check.h"
#include "analysis/checks/checks.h"

namespace hone {

void CheckIncompatibleBlockShapes(const Candidate& candidate, FindingSink* sink) {
  ReportProblems(candidate, ProblemKind::kShapeMismatch, sink,
                 [&](const KernelTrace&, const KernelProblem& problem) {
                   return problem.detail + Circumstances(candidate, problem);
                 });
}

}  // namespace hone

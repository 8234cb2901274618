// incompatible-block-shapes: operands whose shapes or types cannot meet.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"

namespace hone {

void CheckIncompatibleBlockShapes(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  for (const KernelTrace& trace : candidate.python->traces)
    for (const KernelProblem& problem : trace.problems)
      if (problem.kind == ProblemKind::kShapeMismatch)
        sink->AddProblem(problem, problem.detail + Circumstances(candidate, problem), problem.fix);
}

}  // namespace hone

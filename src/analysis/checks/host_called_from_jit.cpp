// host-called-from-jit: a kernel calls something that exists only on the host.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"

namespace hone {

void CheckHostCalledFromJit(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  for (const KernelTrace& trace : candidate.python->traces)
    for (const KernelProblem& problem : trace.problems)
      if (problem.kind == ProblemKind::kHostCall) sink->AddProblem(problem, problem.detail, problem.fix);
}

}  // namespace hone

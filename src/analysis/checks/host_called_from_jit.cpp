// host-called-from-jit: a kernel calls a function that exists only on the host.
#include "analysis/check.h"
#include "analysis/checks/checks.h"

namespace hone {

void CheckHostCalledFromJit(const Candidate& candidate, FindingSink* sink) {
  ReportProblems(candidate, ProblemKind::kHostCall, sink,
                 [](const KernelTrace&, const KernelProblem& problem) { return problem.detail; });
}

}  // namespace hone

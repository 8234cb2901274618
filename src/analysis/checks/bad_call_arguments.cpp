// bad-call-arguments: a tl function or a jitted helper is called with arguments it does not take.
#include "analysis/check.h"
#include "analysis/checks/checks.h"

namespace hone {

void CheckBadCallArguments(const Candidate& candidate, FindingSink* sink) {
  ReportProblems(candidate, ProblemKind::kBadCall, sink,
                 [](const KernelTrace&, const KernelProblem& problem) { return problem.detail; });
}

}  // namespace hone

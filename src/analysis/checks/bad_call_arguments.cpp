// bad-call-arguments: a tl function or a jitted helper is called with arguments it does not take.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"

namespace hone {

void CheckBadCallArguments(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  for (const KernelTrace& trace : candidate.python->traces)
    for (const KernelProblem& problem : trace.problems)
      if (problem.kind == ProblemKind::kBadCall) sink->AddProblem(problem, problem.detail, problem.fix);
}

}  // namespace hone

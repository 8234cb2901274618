// unsupported-statement: a kernel contains Python that Triton's front end rejects.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"

namespace hone {

void CheckUnsupportedStatement(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  for (const KernelTrace& trace : candidate.python->traces) {
    for (const KernelProblem& problem : trace.problems) {
      if (problem.kind != ProblemKind::kUnsupported) continue;
      sink->AddProblem(
          problem,
          fmt::format("Triton does not support {} in a kernel ({})", problem.subject, trace.kernel->name),
          problem.fix);
    }
  }
}

}  // namespace hone

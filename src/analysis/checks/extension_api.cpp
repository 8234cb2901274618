// extension-api: a source of load_inline uses a name that its headers do not declare, or that no longer
// exists.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "analysis/extension_problems.h"

namespace hone {

void CheckExtensionApi(const Candidate& candidate, FindingSink* sink) {
  for (const ExtensionBuild& build : candidate.extensions)
    for (const NameProblem& problem : NameProblems(build))
      sink->AddAt(problem.source->unit->OuterStart(problem.node),
                  problem.source->unit->OuterEnd(problem.node),
                  build.runs ? Severity::kError : Severity::kWarning, problem.Words(),
                  problem.include.empty() ? fmt::format("Use {}.", problem.replacement)
                                          : fmt::format("Add #include <{}>.", problem.include));
}

}  // namespace hone

// extension-binding: the names that load_inline binds do not match what its sources declare and define.
#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "analysis/extension_problems.h"

namespace hone {

namespace {

const char* AdviceFor(BindingProblem::Kind kind) {
  switch (kind) {
    case BindingProblem::Kind::kNoCppSources:
      return "Pass the declarations of the bound functions as cpp_sources.";
    case BindingProblem::Kind::kDeviceCodeInCpp:
      return "Pass it as cuda_sources, and declarations alone as cpp_sources.";
    case BindingProblem::Kind::kSwapped:
      return "Swap the two.";
    case BindingProblem::Kind::kNotDeclared:
      return "Declare it in cpp_sources as cuda_sources defines it.";
    case BindingProblem::Kind::kOtherSignature:
      return "Declare it as it is defined.";
    case BindingProblem::Kind::kNotBound:
      return "Add it to functions=.";
    case BindingProblem::Kind::kBoundTwice:
      return "Keep one of the two.";
    case BindingProblem::Kind::kNothingBound:
      return "Add functions=[...] with the names that Python calls.";
  }
  return "";
}

}  // namespace

void CheckExtensionBinding(const Candidate& candidate, FindingSink* sink) {
  for (const ExtensionBuild& build : candidate.extensions)
    for (const BindingProblem& problem : BindingProblems(build)) {
      const bool certain = build.runs && (problem.kind != BindingProblem::Kind::kNotBound ||
                                          candidate.python->scopes->Runs(problem.node));
      sink->AddAt(problem.start, problem.end, certain ? Severity::kError : Severity::kWarning,
                  problem.Words(), AdviceFor(problem.kind));
    }
}

}  // namespace hone

// bad-call-arguments: a call of a tl function, a jitted helper or a kernel has arguments that it does not
// take.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"

namespace hone {

namespace {

// True if the value is certainly one number. Triton needs the length of the grid.
bool IsNumber(const Scopes& scopes, const PyNode* node, int depth) {
  if (node == nullptr || depth > 6) return false;
  switch (node->kind) {
    case PyKind::kInt:
      return true;
    case PyKind::kLambda:
      return IsNumber(scopes, node->value, depth + 1);
    case PyKind::kBinOp:
      return (node->op == "*" || node->op == "//" || node->op == "+") &&
             IsNumber(scopes, node->left, depth + 1) && IsNumber(scopes, node->right, depth + 1);
    case PyKind::kCall: {
      const bool method = node->value != nullptr && node->value->Is(PyKind::kAttribute);
      return scopes.Resolve(node->value) == "triton.cdiv" || (method && node->value->name == "numel") ||
             (method && node->value->name == "size" && node->args.size() == 1);
    }
    case PyKind::kSubscript:
      return node->value != nullptr && node->value->Is(PyKind::kAttribute) && node->value->name == "shape" &&
             node->target != nullptr && node->target->Is(PyKind::kInt);
    case PyKind::kName: {
      const std::vector<Binding>* bindings = scopes.Find(node->name, node);
      return bindings != nullptr && bindings->size() == 1 &&
             IsNumber(scopes, bindings->front().value, depth + 1);
    }
    default:
      return false;
  }
}

}  // namespace

void CheckBadCallArguments(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  for (const auto& launch : candidate.python->kernels->launches()) {
    if (launch->kernel->wrapped || !IsNumber(*candidate.python->scopes, launch->grid, 0)) continue;
    sink->Add(launch->grid, launch->runs ? Severity::kError : Severity::kWarning,
              fmt::format("the grid of {} is a number, but Triton needs a tuple", launch->kernel->name),
              fmt::format(
                  "Write a tuple: ({},).",
                  TextOf(candidate, launch->grid->Is(PyKind::kLambda) ? launch->grid->value : launch->grid)));
  }
  ReportProblems(candidate, ProblemKind::kBadCall, sink,
                 [](const KernelTrace&, const KernelProblem& problem) { return problem.detail; });
}

}  // namespace hone

// Fixes the shape of tl.zeros and tl.full where it is no tuple: tl.zeros(N, ...) and tl.zeros(M, N, ...)
// become tl.zeros((N,), ...) and tl.zeros((M, N), ...). tl.reshape, tl.view and tl.broadcast_to take bare
// numbers.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/fixes/fix.h"
#include "base/text.h"

namespace hone {

namespace {

// An extent is a number, a name or arithmetic of these.
bool IsExtent(const Candidate& candidate, const PyNode* node) {
  switch (node->kind) {
    case PyKind::kInt:
      return true;
    case PyKind::kName:
      return !StartsWith(candidate.python->scopes->Resolve(node), "triton.language.");
    case PyKind::kBinOp:
      return IsExtent(candidate, node->left) && IsExtent(candidate, node->right);
    case PyKind::kCall: {
      const std::string callee = candidate.python->scopes->Resolve(node->value);
      return callee == "triton.language.cdiv" || callee == "triton.cdiv" ||
             callee == "triton.next_power_of_2";
    }
    default:
      return false;
  }
}

bool IsType(const Candidate& candidate, const PyNode* node) {
  return StartsWith(candidate.python->scopes->Resolve(node), "triton.language.") ||
         StartsWith(candidate.python->scopes->Resolve(node), "torch.") ||
         (node->Is(PyKind::kAttribute) && node->name == "dtype");
}

}  // namespace

FixEdits FixShapeTuple(const FixRequest& request) {
  const PyNode* call = request.node;
  const Candidate& candidate = request.candidate;
  if (call == nullptr || request.problem == nullptr || !call->Is(PyKind::kCall)) return {};
  const std::string callee = candidate.python->scopes->Resolve(call->value);
  const bool full = callee == "triton.language.full";
  if (!full && callee != "triton.language.zeros") return {};
  for (const PyNode* argument : call->args)
    if (argument->Is(PyKind::kStarred)) return {};
  const bool is_number = Contains(request.problem->detail, "as its shape");
  if (const PyNode* shape = call->Keyword("shape")) {
    if (!is_number || !call->args.empty() || !IsExtent(candidate, shape)) return {};
    return {ReplaceInParentheses(candidate, shape, fmt::format("({},)", Code(candidate, shape)))};
  }
  size_t after = full && call->Keyword("value") == nullptr ? 1 : 0;
  if (call->Keyword("dtype") == nullptr && !call->args.empty() && IsType(candidate, call->args.back()))
    ++after;
  if (call->args.size() <= after) return {};
  const size_t extents = call->args.size() - after;
  for (size_t i = 0; i < extents; ++i)
    if (!IsExtent(candidate, call->args[i])) return {};
  if (extents == 1) {
    if (!is_number) return {};
    return {
        ReplaceInParentheses(candidate, call->args[0], fmt::format("({},)", Code(candidate, call->args[0])))};
  }
  // Two extents and a value could be a shape, its value and nothing more.
  if (full && call->Keyword("dtype") == nullptr && !IsType(candidate, call->args.back())) return {};
  return {Insert(call->args[0]->start, "("), Insert(call->args[extents - 1]->end, ")")};
}

}  // namespace hone

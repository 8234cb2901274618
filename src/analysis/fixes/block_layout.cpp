// Fixes blocks with axes in the wrong order, if the extents allow only one correction: an operand of tl.dot
// that must be transposed, or must not be, or is on the wrong side; [:, None] in place of [None, :]; the mask
// of a tile made of its two edges; a transposed store; the shape of an accumulator. If another launch, config
// or use of the block contradicts it, the fix causes a new error and is dropped (mend.h).
#include <fmt/format.h>

#include <algorithm>

#include "analysis/check.h"
#include "analysis/fixes/fix.h"
#include "base/text.h"

namespace hone {

namespace {

using BlockExtents = std::vector<int64_t>;

bool IsMatrix(const BlockExtents& shape) {
  return shape.size() == 2 && shape[0] > 0 && shape[1] > 0;
}

BlockExtents Turned(const BlockExtents& shape) {
  return {shape[1], shape[0]};
}

// The transposed part of the expression, or null.
const PyNode* Untransposed(const Candidate& candidate, const PyNode* node) {
  if (node->Is(PyKind::kAttribute) && node->name == "T") return node->value;
  const bool call = node->Is(PyKind::kCall) && node->args.size() == 1 && node->keywords.empty();
  return call && candidate.python->scopes->Resolve(node->value) == "triton.language.trans" ? node->args[0]
                                                                                           : nullptr;
}

FixEdits Transpose(const Candidate& candidate, const PyNode* node) {
  if (const PyNode* inner = Untransposed(candidate, node))
    return {{node->start, node->end, Operand(candidate, inner)}};
  FixEdits edits;
  const std::string language = EnsureLanguage(candidate, &edits);
  if (language.empty()) return {};
  edits.push_back({node->start, node->end, fmt::format("{}.trans({})", language, Code(candidate, node))});
  return edits;
}

// If transposing one of the two operands fits in every launch and config and transposing the other does not.
// The accumulator's shape, which the problem has besides the operands, may decide.
FixEdits TransposeOperand(const FixRequest& request) {
  const PyNode* call = request.node;
  const std::vector<KernelValue>& sides = request.problem->sides;
  const BlockExtents sum = sides.size() > 2 ? sides[2].shape : BlockExtents();
  bool first = !IsMatrix(sum) || sum == BlockExtents{sides[0].shape[1], sides[1].shape[1]};
  bool second = !IsMatrix(sum) || sum == BlockExtents{sides[0].shape[0], sides[1].shape[0]};
  bool certain = false;
  for (const KernelTrace& trace : request.candidate.python->traces)
    for (const DotUse& dot : trace.dots) {
      if (dot.node != call) continue;
      const BlockExtents& a = dot.a.shape;
      const BlockExtents& b = dot.b.shape;
      if (a.size() != 2 || b.size() != 2) return {};
      const auto can_meet = [](int64_t x, int64_t y) { return x < 0 || y < 0 || x == y; };
      first = first && can_meet(a[0], b[0]);
      second = second && can_meet(a[1], b[1]);
      certain = certain || (IsMatrix(a) && IsMatrix(b));
    }
  if (!certain || first == second) return {};
  return Transpose(request.candidate, call->args[first ? 0 : 1]);
}

// The other operand of a sum, if it is exactly the product tl.dot(a, b).
const PyNode* ProductIn(const Candidate& candidate, const PyNode* value) {
  const bool dot = value != nullptr && value->Is(PyKind::kCall) && value->args.size() == 2 &&
                   candidate.python->scopes->Resolve(value->value) == "triton.language.dot";
  return dot ? value : nullptr;
}

FixEdits Swap(const Candidate& candidate, const PyNode* one, const PyNode* other) {
  return {{one->start, one->end, Code(candidate, other)}, {other->start, other->end, Code(candidate, one)}};
}

// acc += tl.dot(b, a), if a times b has the shape of acc.
FixEdits SwapOperands(const FixRequest& request, const PyNode* product, const BlockExtents& sum) {
  for (const KernelTrace& trace : request.candidate.python->traces)
    for (const DotUse& dot : trace.dots) {
      if (dot.node != product || dot.launch != request.problem->launch ||
          dot.config != request.problem->config || !IsMatrix(dot.a.shape) || !IsMatrix(dot.b.shape))
        continue;
      const bool fits =
          dot.a.shape[0] == dot.b.shape[1] && sum == BlockExtents{dot.b.shape[0], dot.a.shape[1]};
      return fits ? Swap(request.candidate, product->args[0], product->args[1]) : FixEdits();
    }
  return {};
}

// acc = tl.zeros((N, M)) that receives products of M rows and N columns.
FixEdits TurnAccumulator(const FixRequest& request, const PyNode* sum) {
  const Candidate& candidate = request.candidate;
  if (!sum->Is(PyKind::kName)) return {};
  const std::vector<Binding>* bindings = candidate.python->scopes->Find(sum->name, sum);
  if (bindings == nullptr) return {};
  const PyNode* zeros = nullptr;
  for (const Binding& binding : *bindings) {
    if (binding.node->Is(PyKind::kAugAssign) || (binding.value != nullptr && IsInside(sum, binding.node)))
      continue;
    if (zeros != nullptr || binding.value == nullptr) return {};
    zeros = binding.value;
  }
  if (zeros == nullptr || !zeros->Is(PyKind::kCall) || zeros->args.empty() ||
      candidate.python->scopes->Resolve(zeros->value) != "triton.language.zeros")
    return {};
  const PyNode* shape = zeros->args[0];
  if ((!shape->Is(PyKind::kTuple) && !shape->Is(PyKind::kList)) || shape->args.size() != 2) return {};
  return Swap(candidate, shape->args[0], shape->args[1]);
}

// For v[:, None] or v[None, :] the other of the two as text, "" otherwise.
std::string OtherAxis(const PyNode* node) {
  if (!node->Is(PyKind::kSubscript) || node->target == nullptr || !node->target->Is(PyKind::kTuple) ||
      node->target->args.size() != 2)
    return "";
  const auto all = [](const PyNode* index) {
    return index->Is(PyKind::kSlice) && index->left == nullptr && index->right == nullptr &&
           index->test == nullptr;
  };
  const PyNode* first = node->target->args[0];
  const PyNode* second = node->target->args[1];
  if (all(first) && second->Is(PyKind::kNone)) return "None, :";
  return first->Is(PyKind::kNone) && all(second) ? ":, None" : "";
}

FixEdits TurnVector(const PyNode* vector, const BlockExtents& its, const BlockExtents& other) {
  const std::string axis = OtherAxis(vector);
  if (axis.empty() || !IsMatrix(its) || !IsMatrix(other) || other[0] == 1 || other[1] == 1) return {};
  const BlockExtents turned = Turned(its);
  if (!(turned == BlockExtents{1, other[1]}) && !(turned == BlockExtents{other[0], 1})) return {};
  return {{vector->target->start, vector->target->end, axis}};
}

// (rows < M) & (columns < N), the mask of a tile.
FixEdits SpanTile(const Candidate& candidate, const PyNode* both, const BlockExtents& rows,
                  const BlockExtents& columns) {
  if (both->op != "&" || !both->left->Is(PyKind::kCompare) || !both->right->Is(PyKind::kCompare) ||
      rows.size() != 1 || columns.size() != 1 || rows[0] < 2 || columns[0] < 2)
    return {};
  return {{both->start, both->end,
           fmt::format("({})[:, None] & ({})[None, :]", Code(candidate, both->left),
                       Code(candidate, both->right))}};
}

// The shape of a stored value may result from another mistake, which is fixed first.
bool IsOnlyShapeProblem(const FixRequest& request) {
  const Kernel* kernel = KernelAround(request.candidate, request.node);
  const KernelTrace* trace = kernel != nullptr ? request.candidate.TraceOf(kernel) : nullptr;
  return trace != nullptr &&
         std::none_of(trace->problems.begin(), trace->problems.end(), [&](const KernelProblem& one) {
           return one.kind == ProblemKind::kShapeMismatch && one.node != request.node;
         });
}

FixEdits TurnOperands(const FixRequest& request) {
  const Candidate& candidate = request.candidate;
  const PyNode* node = request.node;
  const BlockExtents& a = request.problem->sides[0].shape;
  const BlockExtents& b = request.problem->sides[1].shape;
  const bool in_place = node->Is(PyKind::kAugAssign);
  const PyNode* left = in_place ? node->target : node->left;
  const PyNode* right = in_place ? node->value : node->right;
  if (left == nullptr || right == nullptr) return {};
  FixEdits edits;
  if (const PyNode* product = node->op == "+" ? ProductIn(candidate, right) : nullptr) {
    if (IsMatrix(a)) edits = SwapOperands(request, product, a);
    if (edits.empty() && IsMatrix(a) && IsMatrix(b) && Turned(a) == b) edits = TurnAccumulator(request, left);
  }
  if (edits.empty()) edits = TurnVector(right, b, a);
  if (edits.empty()) edits = TurnVector(left, a, b);
  if (edits.empty() && !in_place) edits = SpanTile(candidate, node, a, b);
  return edits;
}

}  // namespace

FixEdits FixBlockLayout(const FixRequest& request) {
  const PyNode* node = request.node;
  const KernelProblem* problem = request.problem;
  if (node == nullptr || problem == nullptr || problem->sides.size() < 2) return {};
  const BlockExtents& a = problem->sides[0].shape;
  const BlockExtents& b = problem->sides[1].shape;
  if (node->Is(PyKind::kBinOp) || node->Is(PyKind::kAugAssign)) return TurnOperands(request);
  if (!node->Is(PyKind::kCall) || node->args.size() < 2) return {};
  if (problem->subject == "tl.dot")
    return a.size() == 2 && b.size() == 2 && a[1] != b[0] ? TransposeOperand(request) : FixEdits();
  if (problem->subject == "tl.store" && IsMatrix(a) && IsMatrix(b) && Turned(a) == b &&
      IsOnlyShapeProblem(request))
    return Transpose(request.candidate, node->args[1]);
  return {};
}

}  // namespace hone

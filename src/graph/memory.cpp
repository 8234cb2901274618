#include "graph/memory.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace hone::graph {

namespace {

// Views that have no operator of their own in op.h.
constexpr std::array<std::string_view, 24> kOtherViews = {
    "movedim", "moveaxis",   "swapaxes", "swapdims",     "broadcast_to", "broadcast_tensors",
    "ravel",   "as_strided", "mT",       "mH",           "matrix_H",     "adjoint",
    "real",    "imag",       "positive", "view_as_real", "resolve_conj", "resolve_neg",
    "hsplit",  "vsplit",     "dsplit",   "tensor_split", "atleast_2d",   "atleast_3d",
};

// Whether `shape` needs no copy of a tensor of type `from`: every axis of the new shape divides axes of the
// old one that lie behind one another in memory.
bool CanView(const TensorType& from, const Shape& shape) {
  if (from.elements() != ElementsOf(shape)) return false;
  if (from.elements() == 0) return true;
  std::vector<int64_t> blocks;
  int64_t stride = 0;
  for (size_t i = 0; i < from.shape.size(); ++i) {
    if (from.shape[i] == 1) continue;
    if (!blocks.empty() && stride == from.shape[i] * from.strides[i])
      blocks.back() *= from.shape[i];
    else
      blocks.push_back(from.shape[i]);
    stride = from.strides[i];
  }
  size_t at = 0;
  for (const int64_t block : blocks) {
    int64_t covered = 1;
    while (covered < block && at < shape.size()) covered *= shape[at++];
    if (covered != block) return false;
  }
  return true;
}

bool SharesOperand(const Graph& graph, const Node& node, ValueId operand) {
  const TensorType& from = graph.type(operand);
  const TensorType& to = graph.type(node.result());
  const std::string_view name = BaseName(node.target);
  switch (node.op) {
    case Op::kReshape:
    case Op::kFlatten:
      return CanView(from, to.shape);
    case Op::kContiguous:
      return from == to;
    case Op::kToDtype:
      return name != "_to_copy" && node.BoolArg("copy") != true && from == to;
    case Op::kDropout:
      return name != "native_dropout" && (node.BoolArg("train") == false || node.NumberArg("p") == 0.0);
    case Op::kLift:
      return name == "lift_fresh";
    case Op::kOther:
      if (!node.target.starts_with("aten.")) return false;
      if (name == "ravel") return CanView(from, to.shape);
      return std::find(kOtherViews.begin(), kOtherViews.end(), name) != kOtherViews.end();
    default:
      return ClassOf(node.op) == OpClass::kView;
  }
}

}  // namespace

std::optional<ValueId> SharedOperand(const Graph& graph, const Node& node) {
  std::optional<ValueId> operand = node.ValueArg("self");
  if (!operand) operand = node.ValueArg("input");
  if (!operand || node.results.empty() || !SharesOperand(graph, node, *operand)) return std::nullopt;
  return operand;
}

ValueId MemoryOf(const Graph& graph, ValueId id) {
  while (const Node* node = graph.Definition(id)) {
    const std::optional<ValueId> operand = SharedOperand(graph, *node);
    if (!operand) break;
    id = *operand;
  }
  return id;
}

std::vector<ValueId> MemoryOfOutputs(const Graph& graph) {
  std::vector<ValueId> memory;
  for (const ValueId id : graph.outputs().Leaves()) memory.push_back(MemoryOf(graph, id));
  return memory;
}

bool OutlivesCall(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  return value.kind != ValueKind::kResult && !(value.kind == ValueKind::kConstant && value.name.empty());
}

}  // namespace hone::graph

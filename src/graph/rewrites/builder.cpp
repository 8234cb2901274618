#include "graph/rewrites/builder.h"

#include <algorithm>

namespace hone::graph {

Builder::Builder(Graph& graph, NodeId before)
    : graph_(graph), before_(before), module_(graph.node(before).module) {}

ValueId Builder::Insert(std::string target, std::vector<Argument> arguments, TensorType type) {
  const NodeId id =
      graph_.InsertBefore(before_, {std::move(target), std::move(arguments), {std::move(type)}, module_});
  return graph_.node(id).result();
}

ValueId Builder::Elementwise(const char* target, ValueId a, ArgumentValue b, bool has_alpha) {
  TensorType result = type(a);  // an operation with a number keeps the strides
  if (const auto* other = std::get_if<ValueId>(&b))
    result = ContiguousType(result.dtype,
                            BroadcastShapes(result.shape, type(*other).shape).value_or(result.shape));
  std::vector<Argument> arguments = {{"self", a}, {"other", std::move(b)}};
  if (has_alpha) arguments.push_back({"alpha", int64_t{1}});
  return Insert(target, std::move(arguments), std::move(result));
}

ValueId Builder::Add(ValueId a, ArgumentValue b) {
  return Elementwise("aten.add.Tensor", a, std::move(b), true);
}

ValueId Builder::Sub(ValueId a, ArgumentValue b) {
  return Elementwise("aten.sub.Tensor", a, std::move(b), true);
}

ValueId Builder::Mul(ValueId a, ArgumentValue b) {
  return Elementwise("aten.mul.Tensor", a, std::move(b), false);
}

ValueId Builder::Rsqrt(ValueId a) {
  return Insert("aten.rsqrt.default", {{"self", a}}, type(a));
}

ValueId Builder::Neg(ValueId a) {
  return Insert("aten.neg.default", {{"self", a}}, type(a));
}

ValueId Builder::ToDtype(ValueId a, DType dtype) {
  if (type(a).dtype == dtype) return a;
  TensorType result = type(a);
  result.dtype = dtype;
  return Insert(
      "aten.to.dtype",
      {{"self", a}, {"dtype", dtype}, {"non_blocking", false}, {"copy", false}, {"memory_format", None{}}},
      std::move(result));
}

ValueId Builder::Reshape(ValueId a, const Shape& shape) {
  if (type(a).shape == shape) return a;
  return Insert("aten.reshape.default", {{"self", a}, {"shape", shape}},
                ContiguousType(type(a).dtype, shape));
}

ValueId Builder::Permute(ValueId a, const std::vector<int64_t>& order) {
  if (std::is_sorted(order.begin(), order.end())) return a;
  TensorType result{type(a).dtype, {}, {}};
  for (const int64_t axis : order) {
    result.shape.push_back(type(a).shape[static_cast<size_t>(axis)]);
    result.strides.push_back(type(a).strides[static_cast<size_t>(axis)]);
  }
  return Insert("aten.permute.default", {{"self", a}, {"dims", order}}, std::move(result));
}

ValueId Builder::Expand(ValueId a, const Shape& shape) {
  if (type(a).shape == shape) return a;
  const TensorType& from = type(a);
  TensorType result{from.dtype, shape, std::vector<int64_t>(shape.size(), 0)};
  const size_t offset = shape.size() - from.shape.size();
  for (size_t i = 0; i < from.shape.size(); ++i)
    if (from.shape[i] == shape[offset + i]) result.strides[offset + i] = from.strides[i];
  return Insert("aten.expand.default", {{"self", a}, {"size", shape}, {"implicit", false}},
                std::move(result));
}

ValueId Builder::Reduce(const char* target, ValueId a, const std::vector<int64_t>& axes, bool keep) {
  Shape shape;
  for (int64_t i = 0; i < type(a).rank(); ++i) {
    const bool reduced = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (!reduced)
      shape.push_back(type(a).shape[static_cast<size_t>(i)]);
    else if (keep)
      shape.push_back(1);
  }
  return Insert(target, {{"self", a}, {"dim", axes}, {"keepdim", keep}, {"dtype", None{}}},
                ContiguousType(type(a).dtype, std::move(shape)));
}

ValueId Builder::Sum(ValueId a, const std::vector<int64_t>& axes, bool keep) {
  return Reduce("aten.sum.dim_IntList", a, axes, keep);
}

ValueId Builder::Mean(ValueId a, const std::vector<int64_t>& axes, bool keep) {
  return Reduce("aten.mean.dim", a, axes, keep);
}

ValueId Builder::Full(ValueId like, const Shape& shape, double value, DType dtype) {
  for (const ValueKind kind : {ValueKind::kInput, ValueKind::kParameter, ValueKind::kBuffer})
    if (const std::vector<ValueId> values = graph_.ValuesOf(kind); !values.empty()) {
      like = values.front();
      break;
    }
  ArgumentValue fill = value;
  if (dtype == DType::kBool)
    fill = value != 0;
  else if (IsInteger(dtype))
    fill = static_cast<int64_t>(value);
  return Insert("aten.new_full.default",
                {{"self", like},
                 {"size", shape},
                 {"fill_value", std::move(fill)},
                 {"dtype", type(like).dtype == dtype ? ArgumentValue(None{}) : ArgumentValue(dtype)},
                 {"layout", None{}},
                 {"device", None{}},
                 {"pin_memory", None{}}},
                ContiguousType(dtype, shape));
}

ValueId Builder::Linear(ValueId input, ValueId weight, std::optional<ValueId> bias) {
  Shape shape = type(input).shape;
  shape.back() = type(weight).shape.front();
  return Insert(
      "aten.linear.default",
      {{"input", input}, {"weight", weight}, {"bias", bias ? ArgumentValue(*bias) : ArgumentValue(None{})}},
      ContiguousType(type(input).dtype, std::move(shape)));
}

ValueId Builder::Matmul(ValueId a, ValueId b, const Shape& shape) {
  return Insert("aten.matmul.default", {{"self", a}, {"other", b}}, ContiguousType(type(a).dtype, shape));
}

std::optional<ValueId> Operand(const Node& node) {
  if (const std::optional<ValueId> self = node.ValueArg("self")) return self;
  return node.ValueArg("input");
}

bool CanFoldWeights(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64;
}

const Node* OnlyDefinition(const Graph& graph, ValueId id) {
  return graph.HasOneUse(id) ? graph.Definition(id) : nullptr;
}

std::optional<std::vector<int64_t>> ReducedAxes(const Graph& graph, const Node& node) {
  const std::optional<ValueId> self = Operand(node);
  if (!self) return std::nullopt;
  const int64_t rank = graph.type(*self).rank();
  std::vector<int64_t> axes;
  const std::optional<std::vector<int64_t>> named = node.IntsArg("dim");
  const bool is_none = std::holds_alternative<None>(node.Arg("dim"));
  if (!named && !is_none) return std::nullopt;
  if (!named || named->empty()) {
    for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
    return axes;
  }
  for (const int64_t axis : *named) {
    const std::optional<int64_t> normal = NormalizeAxis(axis, rank);
    if (!normal || rank == 0) return std::nullopt;
    axes.push_back(*normal);
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

}  // namespace hone::graph

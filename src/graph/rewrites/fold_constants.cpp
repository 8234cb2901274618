// Computes nodes that depend on numbers alone. If all tensors of an operator have equal elements (zeros,
// ones, full), so has its result. Handles only floating-point results and the operators listed here. A
// constant that takes its shape from a computed value (zeros_like) is made from the shape itself, so that it
// need not wait for that value.
#include <cmath>
#include <optional>

#include "graph/rewrites/builder.h"
#include "graph/rewrites/rewrite.h"

namespace hone::graph {

namespace {

// The value of all elements of a tensor, if it is known.
std::optional<double> UniformValue(const Graph& graph, ValueId id) {
  const Node* node = graph.Definition(id);
  if (node == nullptr) {
    const Value& value = graph.value(id);
    return value.has_data && value.data.size() == 1 ? std::optional(value.data[0]) : std::nullopt;
  }
  switch (node->op) {
    case Op::kZeros:
    case Op::kZerosLike:
      return 0;
    case Op::kOnes:
    case Op::kOnesLike:
      return 1;
    case Op::kFull:
    case Op::kFullLike:
      return node->NumberArg("fill_value");
    default:
      return std::nullopt;
  }
}

std::optional<double> Operation1(const Node& node, double x) {
  const auto number = [&](const char* name, double fallback) {
    return node.NumberArg(name).value_or(fallback);
  };
  switch (node.op) {
    case Op::kNeg:
      return -x;
    case Op::kAbs:
      return std::fabs(x);
    case Op::kExp:
      return std::exp(x);
    case Op::kLog:
      return std::log(x);
    case Op::kSqrt:
      return std::sqrt(x);
    case Op::kRsqrt:
      return 1 / std::sqrt(x);
    case Op::kReciprocal:
      return 1 / x;
    case Op::kTanh:
      return std::tanh(x);
    case Op::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Op::kSilu:
      return x / (1 + std::exp(-x));
    case Op::kRelu:
      return x > 0 ? x : 0;
    case Op::kLeakyRelu:
      return x > 0 ? x : x * number("negative_slope", 0.01);
    case Op::kMish:
      return x * std::tanh(std::log1p(std::exp(x)));
    case Op::kHardswish:
      return x * std::fmin(std::fmax(x + 3, 0), 6) / 6;
    case Op::kHardsigmoid:
      return std::fmin(std::fmax(x + 3, 0), 6) / 6;
    case Op::kHardtanh:
      return std::fmin(std::fmax(x, number("min_val", -1)), number("max_val", 1));
    case Op::kClamp:
      if (node.ValueArg("min") || node.ValueArg("max")) return std::nullopt;
      return std::fmin(std::fmax(x, number("min", -INFINITY)), number("max", INFINITY));
    case Op::kGelu: {
      const auto* kind = std::get_if<std::string>(&node.Arg("approximate"));
      if (kind != nullptr && *kind == "tanh")
        return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
      return 0.5 * x * (1 + std::erf(x / std::sqrt(2)));
    }
    case Op::kMean:
    case Op::kMax:
    case Op::kMin:
    case Op::kAmax:
    case Op::kAmin:
      return node.results.size() == 1 && !node.ValueArg("other") ? std::optional(x) : std::nullopt;
    case Op::kView:
    case Op::kReshape:
    case Op::kFlatten:
    case Op::kExpand:
    case Op::kPermute:
    case Op::kTranspose:
    case Op::kSqueeze:
    case Op::kUnsqueeze:
    case Op::kSlice:
    case Op::kSelect:
    case Op::kContiguous:
    case Op::kClone:
    case Op::kToDtype:
      return x;
    default:
      return std::nullopt;
  }
}

std::optional<double> Operation2(const Node& node, double a, double b) {
  const double alpha = node.NumberArg("alpha").value_or(1);
  switch (node.op) {
    case Op::kAdd:
      return a + alpha * b;
    case Op::kSub:
      return a - alpha * b;
    case Op::kRsub:
      return b - alpha * a;
    case Op::kMul:
      return a * b;
    case Op::kDiv:
      return std::holds_alternative<None>(node.Arg("rounding_mode")) ? std::optional(a / b) : std::nullopt;
    case Op::kMaximum:
      return std::fmax(a, b);
    case Op::kMinimum:
      return std::fmin(a, b);
    default:
      return std::nullopt;
  }
}

std::optional<double> OperandValue(const Graph& graph, const Node& node, const char* name) {
  if (const std::optional<ValueId> value = node.ValueArg(name)) return UniformValue(graph, *value);
  return node.NumberArg(name);
}

std::optional<double> ValueOf(const Graph& graph, const Node& node) {
  const std::optional<ValueId> operand = Operand(node);
  if (!operand) return std::nullopt;
  const std::optional<double> first = UniformValue(graph, *operand);
  if (!first) return std::nullopt;
  if (std::holds_alternative<None>(node.Arg("other"))) return Operation1(node, *first);
  const std::optional<double> second = OperandValue(graph, node, "other");
  return second ? Operation2(node, *first, *second) : std::nullopt;
}

bool TakesShapeFromComputedValue(const Graph& graph, const Node& node) {
  const std::optional<ValueId> like = Operand(node);
  if (!like || graph.Definition(*like) == nullptr || !std::holds_alternative<None>(node.Arg("device")))
    return false;
  const TensorType& type = graph.type(node.result());
  return type == ContiguousType(type.dtype, type.shape);
}

}  // namespace

int FoldConstants(Graph& graph) {
  return ForEachNode(graph, [&](NodeId id, const Node& node) {
    if (node.results.size() != 1) return false;
    const TensorType type = graph.type(node.result());
    if (ClassOf(node.op) == OpClass::kCreate) {
      const std::optional<double> value = UniformValue(graph, node.result());
      if (!value || !std::isfinite(*value) || !TakesShapeFromComputedValue(graph, node)) return false;
      graph.ReplaceUses(node.result(),
                        Builder(graph, id).Full(*Operand(node), type.shape, *value, type.dtype));
      return true;
    }
    if (!IsFloating(type.dtype) || !Operand(node)) return false;
    // The number is computed in the operand's dtype; a cast from integers would round first.
    if (!IsFloating(graph.type(*Operand(node)).dtype)) return false;
    const std::optional<double> value = ValueOf(graph, node);
    if (!value || !std::isfinite(*value)) return false;
    graph.ReplaceUses(node.result(), Builder(graph, id).Full(*Operand(node), type.shape, *value, type.dtype));
    return true;
  });
}

}  // namespace hone::graph

// Folds a scale or a shift into the linear layer or convolution before it: a number, or a tensor that depends
// on weights alone and has one entry per output channel.
#include <algorithm>
#include <cmath>

#include "graph/rewrites/product.h"
#include "graph/rewrites/rewrite.h"

namespace hone::graph {

namespace {

struct Step {
  bool scales = false;   // true: multiplication, false: addition
  bool inverse = false;  // true: division or subtraction
  ArgumentValue by;      // a number, or a value with shape [channels]
};

// Returns the argument as a number or as a vector with one entry per channel.
std::optional<ArgumentValue> PerChannel(Graph& graph, Builder& build, const Product& product,
                                        const TensorType& result, const ArgumentValue& by,
                                        const std::vector<bool>& fixed) {
  if (const std::optional<double> number = NumberOf(by)) {
    if (!std::isfinite(*number)) return std::nullopt;
    return ArgumentValue(*number);
  }
  const auto* id = std::get_if<ValueId>(&by);
  if (id == nullptr || static_cast<size_t>(*id) >= fixed.size() || !fixed[static_cast<size_t>(*id)])
    return std::nullopt;
  TensorType type;  // a copy, because adding values moves the table
  type = graph.type(*id);
  if (type.dtype != result.dtype || type.rank() > result.rank()) return std::nullopt;
  const size_t offset = result.shape.size() - type.shape.size();
  for (size_t i = 0; i < type.shape.size(); ++i)
    if (type.shape[i] != 1 && offset + i != product.channel_axis) return std::nullopt;
  if (type.elements() != 1 && type.elements() != product.channels) return std::nullopt;
  ValueId vector = build.Reshape(*id, {type.elements()});
  if (type.elements() != product.channels) vector = build.Expand(vector, {product.channels});
  return ArgumentValue(vector);
}

std::optional<Step> StepOf(const Node& node) {
  Step step;
  step.scales = node.op == Op::kMul || node.op == Op::kDiv;
  step.inverse = node.op == Op::kDiv || node.op == Op::kSub;
  if (!step.scales && node.op != Op::kAdd && node.op != Op::kSub) return std::nullopt;
  if (node.op == Op::kDiv && !std::holds_alternative<None>(node.Arg("rounding_mode"))) return std::nullopt;
  if (!step.scales && node.NumberArg("alpha").value_or(1) != 1) return std::nullopt;
  step.by = node.Arg("other");
  return step;
}

ValueId Quotient(Builder& build, ValueId a, ValueId b) {
  return build.Insert("aten.div.Tensor", {{"self", a}, {"other", b}}, build.type(a));
}

}  // namespace

int FoldAffineIntoProduct(Graph& graph) {
  const std::vector<bool> fixed = FixedValues(graph);
  return ForEachNode(graph, [&](NodeId id, const Node& node) {
    const std::optional<Step> step = StepOf(node);
    const std::optional<ValueId> self = node.ValueArg("self");
    if (!step || !self) return false;
    const Node* before = OnlyDefinition(graph, *self);
    if (before == nullptr) return false;
    const std::optional<Product> product = ProductOf(graph, *before, fixed);
    const TensorType result = graph.type(node.result());
    if (!CanFoldWeights(result.dtype)) return false;
    if (!product || (step->scales && !product->can_scale) || graph.type(*self).shape != result.shape ||
        graph.type(*self).dtype != result.dtype || graph.type(product->weight).dtype != result.dtype)
      return false;
    const Node old = *before;
    Builder build(graph, id);
    const std::optional<ArgumentValue> by = PerChannel(graph, build, *product, result, step->by, fixed);
    if (!by) return false;
    const auto* vector = std::get_if<ValueId>(&*by);
    ValueId weight = product->weight;
    std::optional<ValueId> bias = product->bias;
    if (!step->scales) {
      const ArgumentValue shift = vector != nullptr ? *by : ArgumentValue(*NumberOf(*by));
      if (!bias && vector == nullptr) {
        const double number = *NumberOf(*by);
        bias = build.Full(weight, {product->channels}, step->inverse ? -number : number, result.dtype);
      } else if (!bias) {
        bias = step->inverse ? build.Neg(*vector) : *vector;
      } else {
        bias = step->inverse ? build.Sub(*bias, shift) : build.Add(*bias, shift);
      }
    } else if (vector == nullptr) {
      const double number = *NumberOf(*by);
      if (step->inverse && number == 0) return false;
      const double factor = step->inverse ? 1 / number : number;
      weight = build.Mul(weight, factor);
      if (bias) bias = build.Mul(*bias, factor);
    } else {
      const ValueId along = AlongWeight(build, *product, *vector);
      weight = step->inverse ? Quotient(build, weight, along) : build.Mul(weight, along);
      if (bias) bias = step->inverse ? Quotient(build, *bias, *vector) : build.Mul(*bias, *vector);
    }
    graph.ReplaceUses(node.result(), WithWeights(graph, id, old, weight, bias));
    return true;
  });
}

}  // namespace hone::graph

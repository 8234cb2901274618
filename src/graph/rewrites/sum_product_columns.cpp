// The sum or mean over the columns of a product equals a product with the sum or mean of the weights: sum_j
// (x W^T + b)_j = x (sum_j W_j) + sum_j b_j. The product shrinks to one column.
#include <algorithm>

#include "graph/rewrites/builder.h"
#include "graph/rewrites/rewrite.h"

namespace hone::graph {

namespace {

// The product with one column, [..., 1], or no value if the rule does not apply.
std::optional<ValueId> OneColumn(Graph& graph, Builder& build, const Node& product, bool mean) {
  const auto reduce = [&](ValueId value, int64_t axis) {
    return mean ? build.Mean(value, {axis}, true) : build.Sum(value, {axis}, true);
  };
  if (product.op == Op::kLinear) {
    const std::optional<ValueId> input = product.ValueArg("input");
    const std::optional<ValueId> weight = product.ValueArg("weight");
    if (!input || !weight || graph.type(*weight).rank() != 2) return std::nullopt;
    std::optional<ValueId> bias = product.ValueArg("bias");
    if (bias) bias = reduce(*bias, 0);
    return build.Linear(*input, reduce(*weight, 0), bias);
  }
  const bool mm = product.op == Op::kMm;
  if (!mm && product.op != Op::kMatmul) return std::nullopt;
  const std::optional<ValueId> left = product.ValueArg("self");
  const std::optional<ValueId> right = mm ? product.ValueArg("mat2") : product.ValueArg("other");
  if (!left || !right || graph.type(*left).rank() < 1 || graph.type(*right).rank() != 2) return std::nullopt;
  Shape shape = graph.type(product.result()).shape;
  shape.back() = 1;
  return build.Matmul(*left, reduce(*right, 1), shape);
}

}  // namespace

int SumProductColumns(Graph& graph) {
  return ForEachNode(graph, [&](NodeId id, const Node& node) {
    if ((node.op != Op::kSum && node.op != Op::kMean) || !node.ValueArg("self")) return false;
    const ValueId self = *node.ValueArg("self");
    const TensorType type = graph.type(self);
    const TensorType result = graph.type(node.result());
    const std::optional<std::vector<int64_t>> axes = ReducedAxes(graph, node);
    if (!axes || type.dtype != result.dtype || !CanFoldWeights(type.dtype)) return false;
    const int64_t columns = type.rank() - 1;
    if (std::find(axes->begin(), axes->end(), columns) == axes->end() || type.shape.back() <= 1) return false;
    const Node* before = OnlyDefinition(graph, self);
    if (before == nullptr) return false;
    const Node product = *before;
    Builder build(graph, id);
    const bool mean = node.op == Op::kMean;
    std::optional<ValueId> reduced = OneColumn(graph, build, product, mean);
    if (!reduced) return false;
    std::vector<int64_t> others = *axes;
    std::erase(others, columns);
    if (!others.empty())
      reduced = mean ? build.Mean(*reduced, others, true) : build.Sum(*reduced, others, true);
    graph.ReplaceUses(node.result(), build.Reshape(*reduced, result.shape));
    return true;
  });
}

}  // namespace hone::graph

// The mean over rows of a linear layer equals the layer of the mean: mean_t (x_t W^T + b) = (mean_t x_t) W^T
// + b. The product shrinks by the number of rows. For a sum, the bias is multiplied by that number.
#include <algorithm>

#include "graph/rewrites/builder.h"
#include "graph/rewrites/rewrite.h"

namespace hone::graph {

int PullMeanThroughLinear(Graph& graph) {
  return ForEachNode(graph, [&](NodeId id, const Node& node) {
    if ((node.op != Op::kSum && node.op != Op::kMean) || !node.ValueArg("self")) return false;
    const ValueId self = *node.ValueArg("self");
    const TensorType type = graph.type(self);
    const TensorType result = graph.type(node.result());
    const std::optional<std::vector<int64_t>> axes = ReducedAxes(graph, node);
    if (!axes || axes->empty() || axes->back() == type.rank() - 1) return false;
    if (type.dtype != result.dtype || !CanFoldWeights(type.dtype)) return false;
    int64_t rows = 1;
    for (const int64_t axis : *axes) rows *= type.shape[static_cast<size_t>(axis)];
    const Node* before = OnlyDefinition(graph, self);
    if (rows <= 1 || before == nullptr || before->op != Op::kLinear) return false;
    const Node linear = *before;
    const std::optional<ValueId> input = linear.ValueArg("input");
    const std::optional<ValueId> weight = linear.ValueArg("weight");
    std::optional<ValueId> bias = linear.ValueArg("bias");
    if (!input || !weight) return false;
    Builder build(graph, id);
    const bool mean = node.op == Op::kMean;
    const bool keep = node.BoolArg("keepdim").value_or(false);
    const ValueId reduced = mean ? build.Mean(*input, *axes, keep) : build.Sum(*input, *axes, keep);
    if (bias && !mean) bias = build.Mul(*bias, static_cast<double>(rows));
    graph.ReplaceUses(node.result(), build.Linear(reduced, *weight, bias));
    return true;
  });
}

}  // namespace hone::graph

// Folds a batch norm with given statistics into the linear layer or convolution before it:
// (W x + b - mean) * g + beta with g = weight / sqrt(var + eps) is (W g) x + (b - mean) g + beta.
#include "graph/rewrites/product.h"
#include "graph/rewrites/rewrite.h"

namespace hone::graph {

int FoldBatchNorm(Graph& graph) {
  const std::vector<bool> fixed = FixedValues(graph);
  return ForEachNode(graph, [&](NodeId id, const Node& node) {
    if (node.op != Op::kBatchNorm || node.BoolArg("training") != false) return false;
    const std::optional<ValueId> input = node.ValueArg("input");
    const std::optional<ValueId> mean = node.ValueArg("running_mean");
    const std::optional<ValueId> var = node.ValueArg("running_var");
    const std::optional<double> eps = node.NumberArg("eps");
    if (!input || !mean || !var || !eps) return false;
    const Node* before = OnlyDefinition(graph, *input);
    if (before == nullptr) return false;
    const std::optional<Product> product = ProductOf(graph, *before, fixed);
    if (!product || !product->can_scale || product->channel_axis != 1) return false;
    const DType dtype = graph.type(node.result()).dtype;
    if (!CanFoldWeights(dtype)) return false;
    for (const ValueId part : {product->weight, *mean, *var})
      if (graph.type(part).dtype != dtype) return false;
    const Node old = *before;
    Builder build(graph, id);
    ValueId scale = build.Rsqrt(build.Add(*var, *eps));
    if (const auto weight = node.ValueArg("weight")) scale = build.Mul(scale, *weight);
    ValueId shift = product->bias ? build.Sub(*product->bias, *mean) : build.Neg(*mean);
    shift = build.Mul(shift, scale);
    if (const auto bias = node.ValueArg("bias")) shift = build.Add(shift, *bias);
    const ValueId weight = build.Mul(product->weight, AlongWeight(build, *product, scale));
    graph.ReplaceUses(node.result(), WithWeights(graph, id, old, weight, shift));
    return true;
  });
}

}  // namespace hone::graph

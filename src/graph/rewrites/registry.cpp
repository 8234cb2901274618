#include <algorithm>

#include "graph/cost.h"
#include "graph/rewrites/rewrite.h"

namespace hone::graph {

namespace {

constexpr int kMostRounds = 50;  // each round simplifies the graph, so only a bug reaches this limit

AppliedRewrite& EntryOf(const Rewrite& rule, std::vector<AppliedRewrite>* applied) {
  for (AppliedRewrite& one : *applied)
    if (one.name == rule.name) return one;
  applied->push_back({rule.name, rule.what});
  return applied->back();
}

}  // namespace

const std::vector<Rewrite>& AllRewrites() {
  static const std::vector<Rewrite> rules = {
      {"dead_code", "removes operators whose results are not read",
       [](Graph& graph) { return graph.EraseDead(); }},
      {"drop_no_ops", "drops casts, copies, views, dropout and arithmetic that change nothing", &DropNoOps},
      {"merge_views", "merges a view of a view", &MergeViews},
      {"reduce_one_element", "replaces a reduction over one element by the element, and its softmax by 1",
       &ReduceOneElement},
      {"number_padding", "writes the padding of a convolution as numbers", &NumberPadding},
      {"open_einsum", "turns an einsum of several operands or sums into products of pairs", &OpenEinsum},
      {"cancel_self", "x - x is 0", &CancelSelf},
      {"add_multiples", "a * x + b * x is (a + b) * x", &AddMultiples},
      {"mean_of_norm", "the mean of normalised values is the mean of the bias", &MeanOfNorm},
      {"fold_constants", "computes operators whose arguments are all constants", &FoldConstants},
      {"fold_scalars", "merges a chain of additions and multiplications by constants", &FoldScalars},
      {"scale_by_diagonal", "diag(a) @ B scales the rows of B", &ScaleByDiagonal},
      {"skip_zeros", "leaves out the products with zeros of triangular matrices, block by block", &SkipZeros},
      {"fold_batch_norm", "folds batch norm into the product before it", &FoldBatchNorm},
      {"fold_affine", "folds a scale and a shift per channel into the product before them",
       &FoldAffineIntoProduct},
      {"sum_product_columns", "sums the weights instead of the columns of a product", &SumProductColumns},
      {"pull_mean", "takes the mean before a linear layer instead of after it", &PullMeanThroughLinear},
      {"pool_convolution", "sums the inputs that each tap of a convolution meets instead of its outputs",
       &PoolConvolution},
  };
  return rules;
}

Result<std::vector<AppliedRewrite>> ApplyRewrites(Graph& graph, const std::string& only,
                                                  const std::string& except) {
  std::vector<AppliedRewrite> applied;
  bool changed = true;
  bool degenerate = IsDegenerate(graph);
  for (int round = 0; changed && round < kMostRounds; ++round) {
    changed = false;
    for (const Rewrite& rule : AllRewrites()) {
      if ((!only.empty() && only != rule.name) || except == rule.name) continue;
      const int before = NodesPerCall(graph);
      const double flops = FlopsPerCall(graph);
      const double bytes = BytesPerCall(graph);
      const int times = rule.apply(graph);
      graph.EraseDead();  // also removes a replacement that was abandoned halfway
      if (times == 0) continue;
      if (Status status = graph.Verify(); !status.ok())
        return std::move(status).error().WithContext(std::string("rewrite ") + rule.name);
      AppliedRewrite& entry = EntryOf(rule, &applied);
      entry.times += times;
      entry.nodes_removed += before - NodesPerCall(graph);
      entry.flops_removed += flops - FlopsPerCall(graph);
      entry.bytes_removed += bytes - BytesPerCall(graph);
      entry.made_degenerate = entry.made_degenerate || (!degenerate && IsDegenerate(graph));
      degenerate = degenerate || entry.made_degenerate;
      changed = true;
    }
  }
  return applied;
}

bool IsDegenerate(const Graph& graph) {
  const std::vector<bool> moving = ValuesFromInputs(graph);
  const std::vector<ValueId> outputs = graph.outputs().Leaves();
  return std::none_of(outputs.begin(), outputs.end(),
                      [&](ValueId id) { return moving[static_cast<size_t>(id)]; });
}

}  // namespace hone::graph

// Rewrites: rules that replace a part of a graph by a cheaper one with the same result.
//
// A rule is one function in one file, listed in registry.cpp. It looks for matches of its precondition,
// inserts the replacement, redirects the readers and returns the number of matches. The driver removes nodes
// without readers. Rules may assume finite numbers: softmax over one element is 1 even where PyTorch returns
// NaN for an infinite input. They may reorder sums and products as a library may. They must preserve
// everything else.
//
// A replacement may read parameters (a folded weight is an ordinary node). Such nodes depend on weights
// alone, so the generated code computes them once and again whenever the weights change.
//
// tests/end_to_end/graph_rewrites_test.py runs both sides of every rule in float64.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "graph/graph.h"

namespace hone::graph {

struct Rewrite {
  const char* name;  // "fold_batch_norm"
  const char* what;  // one line for users
  int (*apply)(Graph& graph);
};

const std::vector<Rewrite>& AllRewrites();

struct AppliedRewrite {
  std::string name;
  std::string what;
  int times = 0;
  // Savings per call. Nodes that depend on weights alone do not count. Negative: the rule added nodes.
  int nodes_removed = 0;
  double flops_removed = 0;
  double bytes_removed = 0;      // in terms of BytesPerCall
  bool made_degenerate = false;  // no output depends on an input after this rewrite
};

// The effect of all rewrites on a graph, per call.
struct RewriteSummary {
  std::vector<AppliedRewrite> rules;
  int operators[2] = {0, 0};  // before and after
  double flops[2] = {0, 0};
  double bytes[2] = {0, 0};  // BytesPerCall
};
Result<RewriteSummary> SummariseRewrites(Graph graph);
Json ToJson(const RewriteSummary& summary);
// One sentence: the total savings and the rules behind them.
std::string ToText(const RewriteSummary& summary);

// Applies the rules until none matches. `only` selects one rule, `except` leaves one out. The graph passes
// Verify afterwards. An Error is a bug in a rule.
Result<std::vector<AppliedRewrite>> ApplyRewrites(Graph& graph, const std::string& only = "",
                                                  const std::string& except = "");

// True if no output depends on an input, so that every call returns the same. Some benchmark tasks are
// degenerate by mistake.
bool IsDegenerate(const Graph& graph);

// The rules, in the order of registry.cpp.
int DropNoOps(Graph& graph);
int MergeViews(Graph& graph);
int ReduceOneElement(Graph& graph);
int NumberPadding(Graph& graph);
int OpenEinsum(Graph& graph);
int CancelSelf(Graph& graph);
int AddMultiples(Graph& graph);
int MeanOfNorm(Graph& graph);
int FoldConstants(Graph& graph);
int FoldScalars(Graph& graph);
int ScaleByDiagonal(Graph& graph);
int SkipZeros(Graph& graph);
int FoldBatchNorm(Graph& graph);
int FoldAffineIntoProduct(Graph& graph);
int SumProductColumns(Graph& graph);
int PullMeanThroughLinear(Graph& graph);
int PoolConvolution(Graph& graph);

}  // namespace hone::graph

// Rewrites: rules that replace a part of a graph by something cheaper that computes the same.
//
// A rule is one function in one file, listed in registry.cpp. It looks for places where its precondition
// holds, inserts the replacement, redirects the readers and returns how often it did so; the driver removes
// what nobody reads any more. Rules may assume finite numbers: softmax over one element is 1 also where
// PyTorch would answer NaN for an infinite input. They may reorder sums and products as a library may.
// Nothing else changes.
//
// A replacement may read parameters (a folded weight is a node like any other). Such nodes depend on weights
// alone, so the code generator computes them once and again when the weights change.
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
  const char* what;  // one line for people
  int (*apply)(Graph& graph);
};

const std::vector<Rewrite>& AllRewrites();

struct AppliedRewrite {
  std::string name;
  std::string what;
  int times = 0;
  // What it saved in every call; nodes that depend on weights alone do not count. Negative: it added some.
  int nodes_removed = 0;
  double flops_removed = 0;
  double bytes_removed = 0;      // of those that BytesPerCall counts
  bool made_degenerate = false;  // since then no output depends on an input
};

// What rewrites made of a graph, per call.
struct RewriteSummary {
  std::vector<AppliedRewrite> rules;
  int operators[2] = {0, 0};  // before and after
  double flops[2] = {0, 0};
  double bytes[2] = {0, 0};  // BytesPerCall
};
Result<RewriteSummary> SummariseRewrites(Graph graph);
Json ToJson(const RewriteSummary& summary);
// One sentence: what was saved together and by which rule.
std::string ToText(const RewriteSummary& summary);

// Applies the rules until none of them finds a place, or those of one name, or all but one. The graph passes
// Verify afterwards; an Error is a bug of a rule.
Result<std::vector<AppliedRewrite>> ApplyRewrites(Graph& graph, const std::string& only = "",
                                                  const std::string& except = "");

// No output depends on an input: every call returns the same. True of some benchmark tasks by mistake.
bool IsDegenerate(const Graph& graph);

// The rules, in the order of registry.cpp.
int DropNoOps(Graph& graph);
int MergeViews(Graph& graph);
int ReduceOneElement(Graph& graph);
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

#include "graph/rewrites/rewrite.h"
#include "base/json.h"

#include <gtest/gtest.h>

#include <set>

#include "graph/graph_fixture.h"
#include "graph/graph_json.h"
#include "graph/graph_text.h"
#include "graph/rewrites/builder.h"

namespace hone::graph {
namespace {

// A graph x[4, 3] -> f(x). `f` builds nodes and returns the output.
template <class Build>
Graph Make(Build f) {
  Graph graph;
  const ValueId x = graph.AddValue(ValueKind::kInput, "x", F32({4, 3}));
  graph.AddInput(Leaf(x));
  graph.SetOutputs(Leaf(f(graph, x)));
  return graph;
}

ValueId Call(Graph& graph, NewNode node) {
  return graph.node(graph.Append(std::move(node))).result();
}

TEST(Rewrites, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const Rewrite& rule : AllRewrites()) EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
}

TEST(Rewrites, LeaveAGraphAloneThatHasNothingToSimplify) {
  Graph graph = Make([](Graph& g, ValueId x) {
    return Call(g, {"aten.relu.default", {{"self", x}}, {F32({4, 3})}});
  });
  const std::string before = ToText(graph);
  const auto applied = ApplyRewrites(graph);
  ASSERT_TRUE(applied.ok());
  EXPECT_TRUE(applied->empty());
  EXPECT_EQ(ToText(graph), before);
  EXPECT_FALSE(IsDegenerate(graph));
}

TEST(Rewrites, SayWhatTheyDid) {
  Graph graph = Make([](Graph& g, ValueId x) {
    const ValueId doubled = Call(g, {"aten.mul.Tensor", {{"self", x}, {"other", int64_t{2}}}, {F32({4, 3})}});
    return Call(g, {"aten.mul.Tensor", {{"self", doubled}, {"other", 3.5}}, {F32({4, 3})}});
  });
  const auto applied = ApplyRewrites(graph);
  ASSERT_TRUE(applied.ok());
  ASSERT_EQ(applied->size(), 1u);
  EXPECT_EQ(applied->front().name, "fold_scalars");
  EXPECT_EQ(applied->front().times, 1);
  EXPECT_EQ(applied->front().nodes_removed, 1);
  EXPECT_EQ(graph.node(graph.order()[0]).NumberArg("other"), 7.0);
}

TEST(Rewrites, FindATaskWhoseOutputIgnoresItsInput) {
  Graph graph = Make([](Graph& g, ValueId x) {
    return Call(g, {"aten.sub.Tensor", {{"self", x}, {"other", x}, {"alpha", int64_t{1}}}, {F32({4, 3})}});
  });
  EXPECT_FALSE(IsDegenerate(graph));
  ASSERT_TRUE(ApplyRewrites(graph).ok());
  EXPECT_TRUE(IsDegenerate(graph));
}

TEST(Rewrites, KeepWeightsOfFewerBitsAsTheyAre) {
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
    Graph graph;
    const ValueId x = graph.AddValue(ValueKind::kInput, "x", ContiguousType(dtype, {4, 3}));
    const ValueId w = graph.AddValue(ValueKind::kParameter, "w", ContiguousType(dtype, {5, 3}));
    graph.AddInput(Leaf(x));
    const ValueId y = Call(graph, {"aten.linear.default",
                                   {{"input", x}, {"weight", w}, {"bias", None{}}},
                                   {ContiguousType(dtype, {4, 5})}});
    graph.SetOutputs(Leaf(
        Call(graph, {"aten.mul.Tensor", {{"self", y}, {"other", 0.3}}, {ContiguousType(dtype, {4, 5})}})));
    const auto applied = ApplyRewrites(graph);
    ASSERT_TRUE(applied.ok());
    EXPECT_EQ(applied->size(), dtype == DType::kFloat32 ? 1u : 0u);
  }
}

TEST(ReducedAxes, CountsFromZero) {
  Graph graph;
  const ValueId x = graph.AddValue(ValueKind::kInput, "x", F32({2, 3, 4}));
  const auto axes = [&](ArgumentValue dim) {
    return ReducedAxes(
        graph, graph.node(graph.Append({"aten.sum.dim_IntList", {{"self", x}, {"dim", dim}}, {F32({})}})));
  };
  EXPECT_EQ(axes(std::vector<int64_t>{-1, 0}), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(axes(int64_t{-2}), (std::vector<int64_t>{1}));
  EXPECT_EQ(axes(None{}), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(axes(std::vector<int64_t>{}), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_FALSE(axes(int64_t{5}));
}

TEST(Rewrites, AreSummedUpWithWhatEachSaved) {
  // The sum over the columns of a product turns 7 columns of weights into one.
  Graph graph;
  const ValueId x = graph.AddValue(ValueKind::kInput, "x", F32({3, 5}));
  graph.AddInput(Leaf(x));
  const ValueId w = graph.AddValue(ValueKind::kParameter, "w", F32({7, 5}));
  const ValueId y =
      Call(graph, {"aten.linear.default", {{"input", x}, {"weight", w}, {"bias", None{}}}, {F32({3, 7})}});
  graph.SetOutputs(
      Leaf(Call(graph, {"aten.sum.dim_IntList",
                        {{"self", y}, {"dim", std::vector<int64_t>{1}}, {"keepdim", true}, {"dtype", None{}}},
                        {F32({3, 1})}})));
  const auto summary = SummariseRewrites(graph);
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->flops[0], 2 * 3 * 5 * 7);
  EXPECT_EQ(summary->flops[1], 2 * 3 * 5);
  EXPECT_EQ(summary->bytes[0], 4 * (15 + 35 + 3));
  EXPECT_EQ(summary->bytes[1], 4 * (15 + 5 + 3));
  ASSERT_FALSE(summary->rules.empty());
  EXPECT_EQ(summary->rules[0].name, "sum_product_columns");
  EXPECT_EQ(summary->rules[0].flops_removed, 2 * 3 * 5 * 6);
  EXPECT_EQ(summary->rules[0].bytes_removed, 4 * 30);
  EXPECT_NE(ToText(*summary).find("sum_product_columns 1x"), std::string::npos) << ToText(*summary);
  EXPECT_EQ(ToJson(*summary)["rules"][0]["name"], "sum_product_columns");
}

}  // namespace
}  // namespace hone::graph

#include "graph/demand.h"

#include <gtest/gtest.h>

#include "graph/graph_fixture.h"

namespace hone::graph {
namespace {

ValueId Call(Graph& graph, const char* target, std::vector<Argument> arguments, Shape shape) {
  return graph.node(graph.Append({target, std::move(arguments), {F32(std::move(shape))}})).result();
}

// A class token in front of patches: cat(token[2, 1, 4], x[2, 3, 4]) -> linear -> the element `index` along
// `axis`.
Graph Transformer(int64_t axis, int64_t index) {
  Graph graph;
  const ValueId x = graph.AddValue(ValueKind::kInput, "x", F32({2, 3, 4}));
  graph.AddInput(Leaf(x));
  const ValueId token = graph.AddValue(ValueKind::kParameter, "token", F32({2, 1, 4}));
  const ValueId weight = graph.AddValue(ValueKind::kParameter, "weight", F32({5, 4}));
  const ValueId both =
      Call(graph, "aten.cat.default", {{"tensors", ValueList{token, x}}, {"dim", int64_t{1}}}, {2, 4, 4});
  const ValueId y =
      Call(graph, "aten.linear.default", {{"input", both}, {"weight", weight}, {"bias", None{}}}, {2, 4, 5});
  const ValueId normal = Call(
      graph, "aten.layer_norm.default",
      {{"input", y}, {"normalized_shape", std::vector<int64_t>{5}}, {"weight", None{}}, {"bias", None{}}},
      {2, 4, 5});
  const ValueId merged =
      Call(graph, "aten.view.default", {{"self", normal}, {"size", std::vector<int64_t>{2, 20}}}, {2, 20});
  const ValueId split = Call(graph, "aten.view.default",
                             {{"self", merged}, {"size", std::vector<int64_t>{2, 4, 5}}}, {2, 4, 5});
  Shape shape = {2, 4, 5};
  shape.erase(shape.begin() + axis);
  graph.SetOutputs(Leaf(
      Call(graph, "aten.select.int", {{"self", split}, {"dim", axis}, {"index", index}}, std::move(shape))));
  return graph;
}

TEST(Demand, OfTheTokenAloneReadsNoInput) {
  EXPECT_FALSE(ReadsAnyInput(Transformer(1, 0)));
}

TEST(Demand, OfAnotherPlaceReadsIt) {
  const Graph graph = Transformer(1, 2);
  EXPECT_TRUE(ReadsAnyInput(graph));
  const auto demands = DemandedElements(graph);
  const ValueId x = graph.ValuesOf(ValueKind::kInput)[0];
  EXPECT_EQ(demands[static_cast<size_t>(x)], (Box{{0, 2}, {1, 2}, {0, 4}}));
}

TEST(Demand, OfOneSampleReadsItsPatches) {
  const Graph graph = Transformer(0, 1);
  const auto demands = DemandedElements(graph);
  const ValueId x = graph.ValuesOf(ValueKind::kInput)[0];
  EXPECT_EQ(demands[static_cast<size_t>(x)], (Box{{1, 2}, {0, 3}, {0, 4}}));
}

TEST(Demand, OfOneFeatureReadsAllThatTheNormReads) {
  const Graph graph = Transformer(2, 0);
  const auto demands = DemandedElements(graph);
  const ValueId x = graph.ValuesOf(ValueKind::kInput)[0];
  EXPECT_EQ(demands[static_cast<size_t>(x)], (Box{{0, 2}, {0, 3}, {0, 4}}));
}

TEST(Demand, FollowsARowThroughFlattenedBatches) {
  // x[3, 5, 8] as [15, 8], a linear layer, back to [3, 5, 6]: row 0 of each of the 3.
  Graph graph;
  const ValueId x = graph.AddValue(ValueKind::kInput, "x", F32({3, 5, 8}));
  graph.AddInput(Leaf(x));
  const ValueId weight = graph.AddValue(ValueKind::kParameter, "weight", F32({6, 8}));
  const ValueId rows =
      Call(graph, "aten.view.default", {{"self", x}, {"size", std::vector<int64_t>{15, 8}}}, {15, 8});
  const ValueId y =
      Call(graph, "aten.linear.default", {{"input", rows}, {"weight", weight}, {"bias", None{}}}, {15, 6});
  const ValueId back =
      Call(graph, "aten.view.default", {{"self", y}, {"size", std::vector<int64_t>{3, 5, 6}}}, {3, 5, 6});
  graph.SetOutputs(Leaf(
      Call(graph, "aten.select.int", {{"self", back}, {"dim", int64_t{1}}, {"index", int64_t{2}}}, {3, 6})));
  const auto demands = DemandedElements(graph);
  EXPECT_EQ(demands[static_cast<size_t>(rows)], (Box{{2, 13, 5}, {0, 8}}));
  EXPECT_EQ(demands[static_cast<size_t>(x)], (Box{{0, 3}, {2, 3}, {0, 8}}));
}

TEST(Demand, OfAnUnknownOperatorIsTheWholeOperand) {
  Graph graph;
  const ValueId x = graph.AddValue(ValueKind::kInput, "x", F32({2, 3}));
  graph.AddInput(Leaf(x));
  const ValueId odd = Call(graph, "aten.fft_fft.default", {{"self", x}}, {2, 3});
  graph.SetOutputs(
      Leaf(Call(graph, "aten.select.int", {{"self", odd}, {"dim", int64_t{0}}, {"index", int64_t{0}}}, {3})));
  EXPECT_EQ(DemandedElements(graph)[static_cast<size_t>(x)], (Box{{0, 2}, {0, 3}}));
}

TEST(Demand, OfARandomDrawCountsAsAnInput) {
  Graph graph;
  const ValueId w = graph.AddValue(ValueKind::kParameter, "w", F32({2, 3}));
  graph.SetOutputs(Leaf(Call(graph, "aten.rand_like.default", {{"self", w}}, {2, 3})));
  EXPECT_TRUE(ReadsAnyInput(graph));
}

}  // namespace
}  // namespace hone::graph

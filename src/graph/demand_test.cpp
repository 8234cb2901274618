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

// x[12, 4], split into parts of 5 rows, or narrowed to two rows from row 7.
TEST(Demand, OfPartsIsWhereTheyLieInTheWhole) {
  for (const char* target : {"aten.split.Tensor", "aten.chunk.default"}) {
    Graph graph;
    const ValueId x = graph.AddValue(ValueKind::kInput, "x", F32({12, 4}));
    graph.AddInput(Leaf(x));
    const Node& parts = graph.node(
        graph.Append({target, {{"self", x}, {"dim", int64_t{0}}}, {F32({5, 4}), F32({5, 4}), F32({2, 4})}}));
    graph.SetOutputs(Leaf(parts.results[2]));
    EXPECT_EQ(DemandedElements(graph)[static_cast<size_t>(x)], (Box{{10, 12}, {0, 4}})) << target;
  }
  for (const int64_t start : {7, -5}) {
    Graph graph;
    const ValueId x = graph.AddValue(ValueKind::kInput, "x", F32({12, 4}));
    graph.AddInput(Leaf(x));
    graph.SetOutputs(
        Leaf(Call(graph, "aten.narrow.default",
                  {{"self", x}, {"dim", int64_t{0}}, {"start", start}, {"length", int64_t{2}}}, {2, 4})));
    EXPECT_EQ(DemandedElements(graph)[static_cast<size_t>(x)], (Box{{7, 9}, {0, 4}})) << start;
  }
}

// `target` reads the row of x[6, 4] that `select` takes. The output does not depend on x.
std::optional<Box> ReadBehindSelect(const char* target, bool ignored) {
  Graph graph;
  const ValueId x = graph.AddValue(ValueKind::kInput, "x", F32({6, 4}));
  const ValueId y = graph.AddValue(ValueKind::kInput, "y", F32({4}));
  graph.AddInput(Leaf(x));
  graph.AddInput(Leaf(y));
  ValueId row =
      Call(graph, "aten.select.int", {{"self", x}, {"dim", int64_t{0}}, {"index", int64_t{-1}}}, {4});
  if (target != nullptr) Call(graph, target, {{"self", row}}, {4});
  graph.SetOutputs(Leaf(y));
  EXPECT_EQ(DemandedElements(graph)[static_cast<size_t>(x)], std::nullopt);
  return ReadElements(graph, [&](const Node&) { return ignored; })[static_cast<size_t>(x)];
}

TEST(Demand, OfWhatOperatorsReadKnowsNoOutputs) {
  const Box last{{5, 6}, {0, 4}};
  EXPECT_EQ(ReadBehindSelect("aten.tanh.default", false), last);
  EXPECT_EQ(ReadBehindSelect("aten.tanh.default", true), last) << "only views are ignored";
  EXPECT_EQ(ReadBehindSelect(nullptr, false), last);
  EXPECT_EQ(ReadBehindSelect(nullptr, true), std::nullopt);
}

TEST(Demand, OfWhatOperatorsReadIsWholeWhereStridesMatter) {
  Graph graph;
  const ValueId x = graph.AddValue(ValueKind::kInput, "x", F32({6, 4}));
  graph.AddInput(Leaf(x));
  const ValueId flat =
      Call(graph, "aten.view.default", {{"self", x}, {"size", std::vector<int64_t>{24}}}, {24});
  graph.SetOutputs(
      Leaf(Call(graph, "aten.slice.Tensor",
                {{"self", flat}, {"dim", int64_t{0}}, {"start", int64_t{20}}, {"step", int64_t{1}}}, {4})));
  EXPECT_EQ(DemandedElements(graph)[static_cast<size_t>(x)], (Box{{5, 6}, {0, 4}}));
  EXPECT_EQ(ReadElements(graph, [](const Node&) { return false; })[static_cast<size_t>(x)],
            (Box{{0, 6}, {0, 4}}));
}

}  // namespace
}  // namespace hone::graph

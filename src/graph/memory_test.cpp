#include "graph/memory.h"

#include <gtest/gtest.h>

#include "graph/graph_fixture.h"

namespace hone::graph {
namespace {

// Whether a node with these arguments after `self` shares the memory of `self`.
bool Shares(const std::string& target, const TensorType& from, const TensorType& to,
            std::vector<Argument> more = {}) {
  Graph graph;
  std::vector<Argument> arguments = {{"self", graph.AddValue(ValueKind::kInput, "x", from)}};
  for (Argument& one : more) arguments.push_back(std::move(one));
  const NodeId id = graph.Append({target, std::move(arguments), {to}});
  return SharedOperand(graph, graph.node(id)).has_value();
}

TEST(Memory, IsSharedByViewsAndByCopiesThatCopyNothing) {
  const TensorType x = F32({4, 6}), flat = F32({24});
  const TensorType across{DType::kFloat32, {6, 4}, {1, 6}};
  EXPECT_TRUE(Shares("aten.view.default", x, flat));
  EXPECT_TRUE(Shares("aten.t.default", x, across));
  EXPECT_TRUE(Shares("aten.movedim.int", x, across));
  EXPECT_TRUE(Shares("aten.detach.default", x, x));
  EXPECT_TRUE(Shares("aten.contiguous.default", x, x));
  EXPECT_TRUE(Shares("aten.to.dtype", x, x, {{"copy", false}}));
  EXPECT_TRUE(Shares("aten.dropout.default", x, x, {{"p", 0.5}, {"train", false}}));
  EXPECT_FALSE(Shares("aten.contiguous.default", across, F32({6, 4})));
  EXPECT_FALSE(Shares("aten.to.dtype", x, x, {{"copy", true}}));
  EXPECT_FALSE(Shares("aten.to.dtype", x, ContiguousType(DType::kFloat64, {4, 6})));
  EXPECT_FALSE(Shares("aten.dropout.default", x, x, {{"p", 0.5}, {"train", true}}));
  EXPECT_FALSE(Shares("aten.clone.default", x, x));
  EXPECT_FALSE(Shares("aten.add.Tensor", x, x, {{"other", int64_t{0}}}));
  EXPECT_FALSE(Shares("hone.view.default", x, x));
}

TEST(Memory, IsSharedByAReshapeWhereStridesDescribeIt) {
  const TensorType across{DType::kFloat32, {6, 4}, {1, 6}};
  EXPECT_TRUE(Shares("aten.reshape.default", F32({4, 6}), F32({2, 2, 3, 2})));
  EXPECT_TRUE(Shares("aten.reshape.default", across, F32({2, 3, 1, 2, 2})));
  EXPECT_FALSE(Shares("aten.reshape.default", across, F32({24})));
  EXPECT_FALSE(Shares("aten.reshape.default", across, F32({4, 6})));
  const TensorType rows{DType::kFloat32, {4, 1, 6}, {12, 7, 1}};  // every second row
  EXPECT_TRUE(Shares("aten.reshape.default", rows, F32({2, 2, 6})));
  EXPECT_FALSE(Shares("aten.flatten.using_ints", rows, F32({24})));
  EXPECT_TRUE(Shares("aten.reshape.default", F32({1, 1}), F32({})));
}

TEST(Memory, OfAnOutputIsThatBehindAllItsViews) {
  Graph graph;
  const ValueId x = graph.AddValue(ValueKind::kInput, "x", F32({4, 6}));
  const auto call = [&](const char* target, ValueId self, TensorType type) {
    return graph.node(graph.Append({target, {{"self", self}}, {std::move(type)}})).result();
  };
  const ValueId view = call("aten.view.default", call("aten.detach.default", x, F32({4, 6})), F32({24}));
  const ValueId made = call("aten.relu.default", x, F32({4, 6}));
  const ValueId of_made = call("aten.view.default", made, F32({24}));
  ValueTree outputs;
  for (const ValueId one : {view, made, of_made}) outputs.children.push_back(Leaf(one));
  graph.SetOutputs(outputs);
  EXPECT_EQ(MemoryOfOutputs(graph), (std::vector<ValueId>{x, made, made}));
  EXPECT_TRUE(OutlivesCall(graph, x));
  EXPECT_FALSE(OutlivesCall(graph, made));
  EXPECT_TRUE(OutlivesCall(graph, graph.AddConstant("table", F32({1}), {3})));
  EXPECT_FALSE(OutlivesCall(graph, graph.AddConstant("", F32({1}), {3})));
}

}  // namespace
}  // namespace hone::graph

#include "graph/degenerate.h"

#include <gtest/gtest.h>

#include "graph/graph_fixture.h"

namespace hone::graph {
namespace {

ValueId Call(Graph& graph, const char* target, std::vector<Argument> arguments) {
  return graph.node(graph.Append({target, std::move(arguments), {F32({4, 3})}})).result();
}

TEST(Degeneracy, NamesTheRewriteThatRemovedTheLastPath) {
  Graph graph;
  const ValueId x = graph.AddValue(ValueKind::kInput, "x", F32({4, 3}));
  graph.AddInput(Leaf(x));
  const ValueId y = Call(graph, "aten.sub.Tensor", {{"self", x}, {"other", x}, {"alpha", int64_t{1}}});
  graph.SetOutputs(
      Leaf(Call(graph, "aten.gelu.default", {{"self", y}, {"approximate", std::string("none")}})));
  const auto found = FindDegeneracy(graph);
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->found);
  EXPECT_EQ(found->rule, "cancel_self");
  EXPECT_EQ(found->why, "the output does not depend on the inputs (cancel_self: x - x is 0)");
}

TEST(Degeneracy, SaysThatForwardReadsNoInput) {
  Graph graph;
  graph.AddInput(Leaf(graph.AddValue(ValueKind::kInput, "x", F32({4, 3}))));
  const ValueId weight = graph.AddValue(ValueKind::kParameter, "w", F32({4, 3}));
  graph.SetOutputs(Leaf(Call(graph, "aten.relu.default", {{"self", weight}})));
  const auto found = FindDegeneracy(graph);
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->found);
  EXPECT_EQ(found->rule, "");
}

TEST(Degeneracy, IsNotFoundWhereOneOutputStillReadsAnInput) {
  Graph graph;
  const ValueId x = graph.AddValue(ValueKind::kInput, "x", F32({4, 3}));
  graph.AddInput(Leaf(x));
  ValueTree outputs;
  outputs.children = {
      Leaf(Call(graph, "aten.sub.Tensor", {{"self", x}, {"other", x}, {"alpha", int64_t{1}}})),
      Leaf(Call(graph, "aten.relu.default", {{"self", x}}))};
  graph.SetOutputs(outputs);
  const auto found = FindDegeneracy(graph);
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(found->found);
  EXPECT_EQ(found->why, "");
}

}  // namespace
}  // namespace hone::graph

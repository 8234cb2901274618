#include "report/plots/graph_plot.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace hone {
namespace {

graph::ValueTree Leaf(graph::ValueId id) {
  graph::ValueTree tree;
  tree.kind = graph::ValueTree::Kind::kValue;
  tree.value = id;
  return tree;
}

TEST(GraphPlot, DrawsABoxForEveryInputNodeAndTheOutput) {
  using graph::ContiguousType;
  using graph::DType;
  graph::Graph graph;
  const graph::ValueId x =
      graph.AddValue(graph::ValueKind::kInput, "x", ContiguousType(DType::kFloat32, {4}));
  graph.AddValue(graph::ValueKind::kParameter, "w", ContiguousType(DType::kFloat32, {4}));
  graph.AddInput(Leaf(x));
  const graph::NodeId a =
      graph.Append({"aten.relu.default", {{"self", x}}, {ContiguousType(DType::kFloat32, {4})}});
  const graph::NodeId b =
      graph.Append({"aten.tanh.default", {{"self", x}}, {ContiguousType(DType::kFloat32, {4})}});
  const graph::NodeId sum =
      graph.Append({"aten.add.Tensor",
                    {{"self", graph.node(a).result()}, {"other", graph.node(b).result()}},
                    {ContiguousType(DType::kFloat32, {4})}});
  graph.SetOutputs(Leaf(graph.node(sum).result()));
  const Svg drawing = DrawGraph(graph, "a <task>");
  const std::string svg = drawing.Inline();
  size_t boxes = 0;
  for (size_t at = svg.find("<rect"); at != std::string::npos; at = svg.find("<rect", at + 1)) ++boxes;
  EXPECT_GE(boxes, 5u);  // input, three nodes, output; a background may add one
  EXPECT_LE(boxes, 6u);
  for (const char* word : {"relu", "tanh", "add", "output", "input x", "a &lt;task&gt;"})
    EXPECT_NE(svg.find(word), std::string::npos) << word;
}

}  // namespace
}  // namespace hone

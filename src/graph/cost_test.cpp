#include "graph/cost.h"

#include <gtest/gtest.h>

namespace hone::graph {
namespace {

class Cost : public testing::Test {
 protected:
  ValueId Input(Shape shape) {
    return graph_.AddValue(ValueKind::kInput, "x", ContiguousType(DType::kFloat32, std::move(shape)));
  }
  ValueId Weight(Shape shape) {
    return graph_.AddValue(ValueKind::kParameter, "w", ContiguousType(DType::kFloat32, std::move(shape)));
  }
  double Flops(const std::string& target, std::vector<Argument> arguments, Shape result) {
    const NodeId id =
        graph_.Append({target, std::move(arguments), {ContiguousType(DType::kFloat32, std::move(result))}});
    return FlopsOf(graph_, graph_.node(id));
  }
  Graph graph_;
};

TEST_F(Cost, CountsProductsByHand) {
  EXPECT_EQ(Flops("aten.linear.default", {{"input", Input({3, 5})}, {"weight", Weight({7, 5})}}, {3, 7}),
            2 * 3 * 5 * 7);
  EXPECT_EQ(
      Flops("aten.matmul.default", {{"self", Input({2, 3, 5})}, {"other", Input({2, 5, 7})}}, {2, 3, 7}),
      2 * 2 * 3 * 5 * 7);
  EXPECT_EQ(Flops("aten.relu.default", {{"self", Input({3, 5})}}, {3, 5}), 0);
}

TEST_F(Cost, CountsProductsWithZerosOfTriangles) {
  // Lower times lower, 3 x 3: 10 of the 27 multiplications have no zero.
  const ValueId a = Input({3, 3});
  const ValueId b = Input({3, 3});
  Flops("aten.matmul.default", {{"self", a}, {"other", b}}, {3, 3});
  EXPECT_EQ(SkippableFlops(graph_), 0);
  graph_.SetDrawnTriangle(a, "lower");
  EXPECT_EQ(SkippableFlops(graph_), 2 * (27 - 18));
  graph_.SetDrawnTriangle(b, "lower");
  EXPECT_EQ(SkippableFlops(graph_), 2 * (27 - 10));
  graph_.SetDrawnTriangle(b, "upper");
  EXPECT_EQ(SkippableFlops(graph_), 2 * (27 - 14));
}

TEST_F(Cost, CountsBytesOfInputsWeightsAndOutputsOnce) {
  // relu(x) * w + x: x counts once despite two readers, and the intermediate result does not count.
  const ValueId x = Input({3, 5});
  const ValueId w = Weight({5});
  const auto call = [&](const char* target, std::vector<Argument> arguments, Shape shape) {
    return graph_
        .node(graph_.Append(
            {target, std::move(arguments), {ContiguousType(DType::kFloat32, std::move(shape))}}))
        .result();
  };
  const ValueId r = call("aten.relu.default", {{"self", x}}, {3, 5});
  const ValueId p = call("aten.mul.Tensor", {{"self", r}, {"other", w}}, {3, 5});
  const ValueId y = call("aten.add.Tensor", {{"self", p}, {"other", x}}, {3, 5});
  ValueTree leaf;
  leaf.kind = ValueTree::Kind::kValue;
  leaf.value = y;
  graph_.SetOutputs(leaf);
  EXPECT_EQ(BytesPerCall(graph_), 4 * (15 + 5 + 15));
  // A slice of a view reads as much as it returns. An embedding reads the rows that it returns.
  const ValueId row = call("aten.select.int", {{"self", x}, {"dim", int64_t{0}}, {"index", int64_t{1}}}, {5});
  leaf.value = call("aten.relu.default", {{"self", row}}, {5});
  graph_.SetOutputs(leaf);
  graph_.EraseDead();
  EXPECT_EQ(BytesPerCall(graph_), 4 * (5 + 5));
  const ValueId table = Weight({100, 8});
  const ValueId rows = graph_.AddValue(ValueKind::kInput, "i", ContiguousType(DType::kInt64, {2}));
  leaf.value = call("aten.embedding.default", {{"weight", table}, {"indices", rows}}, {2, 8});
  graph_.SetOutputs(leaf);
  graph_.EraseDead();
  EXPECT_EQ(BytesPerCall(graph_), 8 * 2 + 4 * 16 + 4 * 16);
}

TEST_F(Cost, CountsConvolutionsByHand) {
  // 4 input channels in 2 groups, 6 output channels, 3 x 3 taps, 5 x 5 outputs.
  EXPECT_EQ(Flops("aten.conv2d.default", {{"input", Input({1, 4, 7, 7})}, {"weight", Weight({6, 2, 3, 3})}},
                  {1, 6, 5, 5}),
            2 * (6 * 5 * 5) * 2 * 9);
  EXPECT_EQ(Flops("aten.conv_transpose2d.input",
                  {{"input", Input({1, 4, 7, 7})}, {"weight", Weight({4, 6, 3, 3})}}, {1, 6, 9, 9}),
            2 * (4 * 7 * 7) * 6 * 9);
}

TEST_F(Cost, CountsRecurrenceAndAttentionByHand) {
  EXPECT_EQ(Flops("aten.gru.input",
                  {{"input", Input({10, 2, 5})},
                   {"hx", Input({1, 2, 4})},
                   {"params", ValueList{Weight({12, 5}), Weight({12, 4}), Weight({12})}}},
                  {10, 2, 4}),
            2 * (10 * 2) * (12 * 5 + 12 * 4));
  EXPECT_EQ(
      Flops("aten.scaled_dot_product_attention.default",
            {{"query", Input({2, 3, 4, 8})}, {"key", Input({2, 3, 6, 8})}, {"value", Input({2, 3, 6, 5})}},
            {2, 3, 4, 5}),
      2 * (2 * 3) * 4 * 6 * (8 + 5));
  EXPECT_EQ(Flops("aten.scaled_dot_product_attention.default",
                  {{"query", Input({2, 4, 8})},
                   {"key", Input({2, 4, 8})},
                   {"value", Input({2, 4, 8})},
                   {"is_causal", true}},
                  {2, 4, 8}),
            2 * 2 * 10 * (8 + 8));
}

TEST_F(Cost, CountsWhatCudnnComputesApart) {
  const double convolution =
      Flops("aten.conv1d.default", {{"input", Input({1, 4, 7})}, {"weight", Weight({6, 4, 3})}}, {1, 6, 5});
  const double recurrence = Flops("aten.lstm.input",
                                  {{"input", Input({10, 2, 5})},
                                   {"hx", ValueList{Input({1, 2, 4}), Input({1, 2, 4})}},
                                   {"params", ValueList{Weight({16, 5}), Weight({16, 4})}}},
                                  {10, 2, 4});
  const double product =
      Flops("aten.mm.default", {{"self", Input({3, 5})}, {"mat2", Weight({5, 7})}}, {3, 7});
  const double cell = Flops(
      "aten.gru_cell.default",
      {{"input", Input({2, 5})}, {"hx", Input({2, 4})}, {"w_ih", Weight({12, 5})}, {"w_hh", Weight({12, 4})}},
      {2, 4});
  EXPECT_EQ(convolution, 2 * 6 * 5 * 4 * 3);
  EXPECT_EQ(recurrence, 2 * 20 * (16 * 5 + 16 * 4));
  EXPECT_EQ(CudnnFlopsPerCall(graph_), convolution + recurrence);
  EXPECT_EQ(FlopsPerCall(graph_), convolution + recurrence + product + cell);
}

TEST_F(Cost, LeavesOutWhatDependsOnWeightsAlone) {
  const double each = Flops("aten.mm.default", {{"self", Input({3, 5})}, {"mat2", Weight({5, 7})}}, {3, 7});
  Flops("aten.mm.default", {{"self", Weight({30, 50})}, {"mat2", Weight({50, 70})}}, {30, 70});
  EXPECT_EQ(FlopsPerCall(graph_), each);
  EXPECT_EQ(NodesPerCall(graph_), 1);
}

}  // namespace
}  // namespace hone::graph

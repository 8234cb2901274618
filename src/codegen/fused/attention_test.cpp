// Tests which nodes are recognised as attention, and what replaces them. Tests that run the result are in
// tests/end_to_end/attention_host_test.py and attention_rewrite_test.py.
#include "codegen/fused/attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "graph/graph_fixture.h"

namespace hone::fused {
namespace {

using graph::DType;
using graph::F32;
using graph::Graph;
using graph::None;
using graph::Shape;
using graph::ValueId;
using graph::ValueKind;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class AttentionTest : public testing::Test {
 protected:
  ValueId Input(Shape shape, DType dtype = DType::kFloat32) {
    const ValueId id = graph.AddValue(ValueKind::kInput, "x", graph::ContiguousType(dtype, std::move(shape)));
    graph.AddInput(graph::Leaf(id));
    return id;
  }
  ValueId Add(const std::string& target, std::vector<graph::Argument> arguments, Shape shape) {
    return graph.node(graph.Append({target, std::move(arguments), {F32(std::move(shape))}})).result();
  }
  // The operator over heads of `width` numbers.
  void Operator(int64_t heads, int64_t length, int64_t width, bool causal = false, double dropout = 0,
                bool masked = false) {
    const Shape shape = {1, heads, length, width};
    const ValueId q = Input(shape), k = Input(shape), v = Input(shape);
    graph::ArgumentValue mask = None{};
    if (masked) mask = Input({length, length}, DType::kBool);
    Return(Add("aten.scaled_dot_product_attention.default",
               {{"query", q},
                {"key", k},
                {"value", v},
                {"attn_mask", mask},
                {"dropout_p", dropout},
                {"is_causal", causal},
                {"scale", None{}},
                {"enable_gqa", false}},
               shape));
  }
  // softmax(masked_fill(q k' * scale)) v, as modules write it.
  void Written(int64_t heads, int64_t length, int64_t width, double fill, bool reads_scores = false,
               const Shape& mask_shape = {}) {
    const Shape shape = {heads, length, width};
    const ValueId q = Input(shape), k = Input({heads, width, length}), v = Input(shape),
                  mask = Input(mask_shape.empty() ? Shape{1, length, length} : mask_shape, DType::kBool);
    const Shape square = {heads, length, length};
    ValueId s = Add("aten.bmm.default", {{"self", q}, {"mat2", k}}, square);
    s = Add("aten.mul.Tensor", {{"self", s}, {"other", 0.5}}, square);
    const ValueId scores = s;
    s = Add("aten.masked_fill.Scalar", {{"self", s}, {"mask", mask}, {"value", fill}}, square);
    s = Add("aten.softmax.int", {{"self", s}, {"dim", int64_t{-1}}, {"dtype", None{}}}, square);
    const ValueId out = Add("aten.bmm.default", {{"self", s}, {"mat2", v}}, shape);
    Return(out);
    if (!reads_scores) return;
    graph::ValueTree both;
    both.children = {graph::Leaf(out), graph::Leaf(scores)};
    graph.SetOutputs(both);
  }
  void Return(ValueId id) { graph.SetOutputs(graph::Leaf(id)); }
  int Fuse() {
    const int count = FuseAttention(graph, LoadDeviceCosts()->gpu).count;
    EXPECT_TRUE(graph.Verify().ok());
    return count;
  }
  int Expand() {
    const int count = ExpandAttention(graph, LoadDeviceCosts()->gpu);
    EXPECT_TRUE(graph.Verify().ok());
    return count;
  }
  std::vector<std::string> Targets() const {
    std::vector<std::string> out;
    for (const graph::NodeId id : graph.order()) out.push_back(graph.node(id).target);
    return out;
  }

  Graph graph;
};

TEST_F(AttentionTest, TakesTheOperator) {
  Operator(8, 1024, 64, true);
  EXPECT_EQ(Fuse(), 1);
  ASSERT_THAT(Targets(), testing::ElementsAre(kAttention));
  const graph::Node& node = graph.node(graph.order().front());
  EXPECT_EQ(node.BoolArg("causal"), true);
  EXPECT_EQ(node.NumberArg("scale"), 0.125);
}

TEST_F(AttentionTest, TakesProductsAroundASoftmax) {
  Written(8, 1024, 64, -kInfinity);
  EXPECT_EQ(Fuse(), 1);
  EXPECT_THAT(Targets(), testing::ElementsAre("aten.permute.default", "aten.reshape.default",
                                              "hone.attention_tiles.default", kAttention));
}

TEST_F(AttentionTest, LeavesScoresThatSomebodyElseReads) {
  Written(8, 1024, 64, -kInfinity, true);
  EXPECT_EQ(Fuse(), 0);
}

TEST_F(AttentionTest, GivesQueriesWithoutKeysTheMeanWhereTheFillIsFinite) {
  for (const double fill : {-1e9, -3.4028234663852886e38}) {
    graph = Graph();
    Written(8, 1024, 64, fill);
    EXPECT_EQ(Fuse(), 1);
    EXPECT_THAT(Targets(), testing::ElementsAre("aten.permute.default", "aten.reshape.default",
                                                "hone.attention_tiles.default", kAttention, "aten.all.dim",
                                                "aten.mean.dim", "aten.where.self"));
  }
}

TEST_F(AttentionTest, LeavesAMaskOfKeysForEachItemOfABatchThatHasAsManyItemsAsQueries) {
  Written(256, 256, 64, -kInfinity, false, {256, 1, 256});
  EXPECT_EQ(Fuse(), 0);
  graph = Graph();
  Written(256, 256, 64, -kInfinity, false, {1, 256, 256});
  EXPECT_EQ(Fuse(), 1) << "one mask for all items";
}

TEST_F(AttentionTest, LeavesAMaskThatDoesNotHide) {
  for (const double fill : {-50.0, 0.0, 1e9, kInfinity}) {
    graph = Graph();
    Written(8, 1024, 64, fill);
    EXPECT_EQ(Fuse(), 0) << fill;
  }
}

TEST_F(AttentionTest, TakesAFactorOfTheQueries) {
  Written(8, 1024, 64, -kInfinity);
  const graph::NodeId product = graph.order().front();
  const ValueId q = *graph.node(product).ValueArg("self");
  const ValueId scaled =
      graph
          .node(graph.InsertBefore(product,
                                   {"aten.div.Tensor", {{"self", q}, {"other", 8.0}}, {graph.type(q)}}))
          .result();
  graph.SetArgument(product, "self", scaled);
  EXPECT_EQ(Fuse(), 1);
  const graph::Node& made = graph.node(graph.order().back());
  EXPECT_EQ(made.target, kAttention);
  EXPECT_EQ(made.NumberArg("scale"), 0.5 / 8);
  EXPECT_EQ(made.ValueArg("query"), q);
}

TEST_F(AttentionTest, LeavesWhatPyTorchDecides) {
  Operator(8, 1024, 64, false, 0.1);
  EXPECT_EQ(Fuse(), 0);
  EXPECT_EQ(Expand(), 0);
  graph = Graph();
  Operator(8, 1024, 64, false, 0, true);
  EXPECT_EQ(Expand(), 0);
}

TEST_F(AttentionTest, TakesTheOperatorsMaskOfBools) {
  Operator(8, 1024, 64, false, 0, true);
  EXPECT_EQ(Fuse(), 1);
  EXPECT_THAT(Targets(), testing::ElementsAre("aten.logical_not.default", "hone.attention_tiles.default",
                                              kAttention, "aten.all.dim", "aten.masked_fill.Scalar"));
}

TEST_F(AttentionTest, ExpandsWideHeadsWhereThatIsFaster) {
  Operator(1024, 512, 1024);
  EXPECT_EQ(Fuse(), 0);
  EXPECT_EQ(Expand(), 1);
  EXPECT_THAT(Targets(), testing::ElementsAre("aten.permute.default", "aten.matmul.default",
                                              "aten.mul.Tensor", "aten.softmax.int", "aten.matmul.default"));
}

TEST_F(AttentionTest, LeavesSmallOnes) {
  Operator(1, 64, 256);
  EXPECT_EQ(Fuse(), 0);
  EXPECT_EQ(Expand(), 0);
}

TEST_F(AttentionTest, KeepsTheOrderOfTheResultInMemory) {
  Operator(1024, 512, 1024);
  Graph strided;
  const Shape shape = {1, 1024, 512, 1024};
  std::vector<ValueId> given;
  for (int i = 0; i < 3; ++i) {
    given.push_back(strided.AddValue(ValueKind::kInput, "x", F32(shape)));
    strided.AddInput(graph::Leaf(given.back()));
  }
  graph::TensorType type = F32(shape);
  type.strides = {1024 * 512 * 1024, 1024, 1024 * 1024, 1};  // rows before heads
  const graph::Node& node = graph.node(graph.order().front());
  std::vector<graph::Argument> arguments = node.arguments;
  for (size_t i = 0; i < 3; ++i) arguments[i].value = given[i];
  strided.SetOutputs(graph::Leaf(strided.node(strided.Append({node.target, arguments, {type}})).result()));
  EXPECT_EQ(ExpandAttention(strided, LoadDeviceCosts()->gpu), 1);
  EXPECT_EQ(strided.type(strided.outputs().value).strides, type.strides);
}

}  // namespace
}  // namespace hone::fused

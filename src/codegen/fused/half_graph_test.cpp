// Tests which convolutions use fp16, and which values are stored as fp16.
// tests/end_to_end/half_network_test.py runs files to check their answers.
#include "codegen/fused/half_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "graph/graph_fixture.h"

namespace hone::fused {
namespace {

using graph::DType;
using graph::Graph;
using graph::None;
using graph::Shape;
using graph::ValueId;
using graph::ValueKind;
using Ints = std::vector<int64_t>;

class HalfGraphTest : public testing::Test {
 protected:
  ValueId Input(Shape shape) {
    const ValueId id = graph.AddValue(ValueKind::kInput, "x", graph::ContiguousType(dtype, std::move(shape)));
    graph.AddInput(graph::Leaf(id));
    return id;
  }
  ValueId Add(const std::string& target, std::vector<graph::Argument> arguments, Shape shape) {
    return graph
        .node(graph.Append({target, std::move(arguments), {graph::ContiguousType(dtype, std::move(shape))}}))
        .result();
  }
  // A 1 x 1 convolution with as many output as input channels.
  ValueId Convolution(ValueId x, int64_t groups = 1) {
    const Shape shape = graph.type(x).shape;
    const ValueId w = graph.AddValue(ValueKind::kParameter, "weight",
                                     graph::ContiguousType(dtype, {shape[1], shape[1] / groups, 1, 1}));
    return Add("aten.conv2d.default",
               {{"input", x},
                {"weight", w},
                {"bias", None{}},
                {"stride", Ints{1, 1}},
                {"padding", Ints{0, 0}},
                {"dilation", Ints{1, 1}},
                {"groups", groups}},
               shape);
  }
  ValueId Relu(ValueId x) { return Add("aten.relu.default", {{"self", x}}, graph.type(x).shape); }
  HalfGraph Store(ValueId out) {
    graph.SetOutputs(graph::Leaf(out));
    const HalfGraph half = StoreHalf(graph, LoadDeviceCosts()->gpu);
    EXPECT_TRUE(graph.Verify().ok());
    return half;
  }
  size_t Count(const std::string& target) const {
    size_t count = 0;
    for (const graph::NodeId id : graph.order()) count += graph.node(id).target == target ? 1 : 0;
    return count;
  }
  // Counts roundings to fp16.
  size_t Rounded() const {
    size_t count = 0;
    for (const graph::NodeId id : graph.order()) {
      const graph::Node& node = graph.node(id);
      count += node.op == graph::Op::kToDtype && graph.type(node.result()).dtype == DType::kFloat16 ? 1 : 0;
    }
    return count;
  }

  Graph graph;
  DType dtype = DType::kFloat32;
};

TEST_F(HalfGraphTest, StoresWhatConvolutionsRead) {
  const ValueId x = Input({2, 32, 8, 8});
  const HalfGraph half = Store(Relu(Convolution(Relu(Convolution(x)))));
  EXPECT_EQ(half.convolutions, 2);
  EXPECT_EQ(Count(kHalfConvolution), 2u);
  EXPECT_EQ(Count("aten.conv2d.default"), 0u);
  EXPECT_EQ(Rounded(), 2u);  // the input and the value in between; the answer stays float32
  EXPECT_EQ(graph.type(graph.outputs().value), graph::F32({2, 32, 8, 8}));
  // Two stored tensors and two results, each with its own scale.
  EXPECT_THAT(half.groups, testing::SizeIs(4));
  EXPECT_EQ(half.scales, 4);
}

TEST_F(HalfGraphTest, TheLastSumReadsWhatWasNotRounded) {
  const ValueId x = Input({2, 32, 8, 8});
  Store(
      Add("aten.add.Tensor", {{"self", Convolution(x)}, {"other", x}, {"alpha", int64_t{1}}}, {2, 32, 8, 8}));
  // The input is permuted twice: rounded for the convolution, and unrounded for the sum.
  EXPECT_EQ(graph.Users(x).size(), 2u);
}

TEST_F(HalfGraphTest, PartsOfACatShareAScale) {
  const ValueId x = Input({2, 32, 8, 8});
  const ValueId a = Convolution(x), b = Convolution(x);
  const ValueId both =
      Add("aten.cat.default", {{"tensors", graph::ValueList{a, b}}, {"dim", int64_t{1}}}, {2, 64, 8, 8});
  const HalfGraph half = Store(Convolution(both));
  EXPECT_EQ(half.convolutions, 3);
  EXPECT_EQ(Rounded(), 1u);   // the input; outputs of convolutions are concatenated as they are
  EXPECT_EQ(half.scales, 3);  // the input, both parts together with the whole, the answer
}

TEST_F(HalfGraphTest, LeavesNarrowConvolutionsWithNothingBehindThem) {
  EXPECT_EQ(Store(Convolution(Input({2, 32, 8, 8}), 32)).convolutions, 0);  // depthwise: cuDNN uses float32
  EXPECT_EQ(Count("aten.conv2d.default"), 1u);
}

TEST_F(HalfGraphTest, TakesNarrowConvolutionsBeforeWideOnes) {
  EXPECT_EQ(Store(Convolution(Convolution(Input({2, 32, 8, 8}), 32))).convolutions, 2);
}

TEST_F(HalfGraphTest, LeavesFloat64) {
  dtype = DType::kFloat64;
  EXPECT_EQ(Store(Convolution(Input({2, 32, 8, 8}))).convolutions, 0);
}

TEST_F(HalfGraphTest, SmallPoolingsBecomeMapsOfTheirTaps) {
  const ValueId x = Convolution(Input({2, 32, 8, 8}));
  Store(Convolution(Add("aten.max_pool2d.default",
                        {{"self", x},
                         {"kernel_size", Ints{2, 2}},
                         {"stride", Ints{2, 2}},
                         {"padding", Ints{0, 0}},
                         {"dilation", Ints{1, 1}},
                         {"ceil_mode", false}},
                        {2, 32, 4, 4})));
  EXPECT_EQ(Count("aten.maximum.default"), 3u);
  EXPECT_EQ(Count("aten.slice.Tensor"), 6u);  // two column slices, with two row slices each
  EXPECT_EQ(Count(kHalfPool), 0u);
}

TEST_F(HalfGraphTest, AReductionAlongRowsReadsWhatWasWritten) {
  const ValueId x = Relu(Convolution(Input({2, 32, 8, 8})));
  Store(Add("aten.group_norm.default",
            {{"input", x},
             {"num_groups", int64_t{4}},
             {"weight", None{}},
             {"bias", None{}},
             {"eps", 1e-5},
             {"cudnn_enabled", true}},
            {2, 32, 8, 8}));
  EXPECT_EQ(Count(kStored), 1u);
}

}  // namespace
}  // namespace hone::fused

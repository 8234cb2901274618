// Tests which convolutions Hone's kernels take, their expected costs, and how the file calls them.
// tests/end_to_end/conv_host_test.py runs them to check their results.
#include "codegen/fused/convolution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/fused/graph_text.h"
#include "graph/graph_fixture.h"

namespace hone::fused {
namespace {

using graph::F32;
using graph::Graph;
using graph::NodeId;
using graph::Shape;
using graph::ValueKind;
using testing::HasSubstr;
using testing::Not;

struct Settings {
  std::vector<int64_t> stride = {1, 1}, padding = {0, 0}, dilation = {1, 1};
  int64_t groups = 1;
  bool transposed = false, fixed = true, bias = false;
};

// One convolution of an input by a weight, which is also an input unless `fixed`.
struct ConvolutionGraph {
  ConvolutionGraph(const Shape& x, const Shape& w, const Shape& out, const Settings& settings = {}) {
    const auto add = [&](bool fixed, const std::string& name, const Shape& shape) {
      const graph::ValueId value =
          graph.AddValue(fixed ? ValueKind::kParameter : ValueKind::kInput, name, F32(shape));
      if (!fixed) graph.AddInput(graph::Leaf(value));
      return value;
    };
    const graph::ValueId input = add(false, "x", x), weight = add(settings.fixed, "w", w);
    graph::ArgumentValue bias = graph::None{};
    if (settings.bias) bias = add(true, "b", {out[1]});
    std::vector<graph::Argument> arguments = {{"input", input},
                                              {"weight", weight},
                                              {"bias", bias},
                                              {"stride", settings.stride},
                                              {"padding", settings.padding}};
    if (settings.transposed) arguments.push_back({"output_padding", std::vector<int64_t>{0, 0}});
    arguments.push_back({"dilation", settings.dilation});
    arguments.push_back({"groups", settings.groups});
    const std::string axes = std::to_string(x.size() - 2);
    node = graph.Append({(settings.transposed ? "aten.conv_transpose" : "aten.conv") + axes + "d.default",
                         std::move(arguments),
                         {F32(out)}});
    graph.SetOutputs(graph::Leaf(graph.node(node).result()));
  }
  std::optional<Convolution> Found() const { return ConvolutionOfNode(graph, graph.node(node)); }
  std::map<NodeId, Convolution> Chosen() const { return ChooseConvolutions(graph, LoadDeviceCosts()->gpu); }
  std::string Text() const {
    const Plan plan = DivideIntoKernels(graph);
    const DeviceCosts costs = *LoadDeviceCosts();
    const auto text = WriteGraph(graph, plan, Language::kCuda, {costs.gpu.processors, costs.gpu.shared_bytes},
                                 {}, Chosen());
    return text.ok() ? DumpJson(text->values) : text.error().message;
  }

  Graph graph;
  NodeId node{-1};
};

TEST(Convolution, IsFoundWithItsSettings) {
  const auto plain =
      ConvolutionGraph({2, 12, 9, 9}, {6, 4, 3, 3}, {2, 6, 4, 4}, {{2, 2}, {0, 0}, {1, 1}, 3}).Found();
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->About(), "2 x 12 x 9 x 9 by 6 kernels of 3 x 3");
  EXPECT_EQ(plain->stride, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(plain->groups, 3);
  EXPECT_FALSE(plain->depthwise);
  Settings turned;
  turned.transposed = true;
  const auto transposed = ConvolutionGraph({2, 8, 9, 9}, {8, 4, 3, 3}, {2, 4, 11, 11}, turned).Found();
  ASSERT_TRUE(transposed);
  EXPECT_EQ(transposed->About(), "2 x 8 x 9 x 9 by 4 transposed kernels of 3 x 3");
  Settings one;
  one.stride = {2};  // one number for both axes
  EXPECT_EQ(ConvolutionGraph({1, 3, 9, 9}, {4, 3, 3, 3}, {1, 4, 4, 4}, one).Found()->stride,
            (std::vector<int64_t>{2, 2}));
}

TEST(Convolution, OfEveryChannelAloneIsDepthwise) {
  Settings settings;
  settings.groups = 8;
  EXPECT_TRUE(ConvolutionGraph({2, 8, 9, 9}, {8, 1, 3, 3}, {2, 8, 7, 7}, settings).Found()->depthwise);
  EXPECT_TRUE(ConvolutionGraph({2, 8, 9, 9}, {16, 1, 3, 3}, {2, 16, 7, 7}, settings).Found()->depthwise);
  // The depthwise kernel holds the taps in registers.
  EXPECT_FALSE(ConvolutionGraph({2, 8, 39, 39}, {8, 1, 31, 31}, {2, 8, 9, 9}, settings).Found());
}

TEST(Convolution, IsLeftWithoutABatchOrWithOtherTypes) {
  EXPECT_FALSE(ConvolutionGraph({3, 9, 9}, {4, 3, 3, 3}, {4, 7, 7}).Found());
  EXPECT_FALSE(ConvolutionGraph({0, 3, 9, 9}, {4, 3, 3, 3}, {0, 4, 7, 7}).Found());
}

TEST(Convolution, IsTakenWhereItIsLarge) {
  EXPECT_EQ(ConvolutionGraph({16, 64, 256, 256}, {128, 64, 3, 3}, {16, 128, 254, 254}).Chosen().size(), 1U);
  EXPECT_EQ(ConvolutionGraph({1, 8, 8, 8}, {8, 8, 3, 3}, {1, 8, 6, 6}).Chosen().size(), 0U);
  Settings dynamic;
  dynamic.fixed = false;
  EXPECT_EQ(
      ConvolutionGraph({16, 64, 256, 256}, {128, 64, 3, 3}, {16, 128, 254, 254}, dynamic).Chosen().size(),
      0U);
}

TEST(Convolution, PacksItsWeightsOnce) {
  Settings settings;
  settings.bias = true;
  const std::string text =
      ConvolutionGraph({16, 64, 256, 256}, {128, 64, 3, 3}, {16, 128, 254, 254}, settings).Text();
  EXPECT_THAT(text, HasSubstr("c0 = _conv0.pack(device, v1)"));
  EXPECT_THAT(text, HasSubstr("_conv0(device, stream, v0, v1, v2, c0, lambda: _aten0.one(v0, v1, v2, [1, 1], "
                              "[0, 0], [1, 1], 1))"));
  EXPECT_THAT(text, HasSubstr("x=(16, 64, 256, 256), out=(16, 128, 254, 254), kernel=(3, 3), stride=(1, 1)"));
  Settings depthwise;
  depthwise.groups = 64;
  const std::string own =
      ConvolutionGraph({16, 64, 512, 512}, {64, 1, 3, 3}, {16, 64, 510, 510}, depthwise).Text();
  EXPECT_THAT(own, Not(HasSubstr("pack(")));
  EXPECT_THAT(own, HasSubstr("_conv0(device, stream, v0, v1, None, lambda: _aten0.one("));
  EXPECT_THAT(own, HasSubstr("_Depthwise"));
}

}  // namespace
}  // namespace hone::fused

// Tests which operators share a kernel, and the layout of kernels. tests/end_to_end/fused_graph_test.py runs
// the kernels to check their results.
#include "codegen/fused/groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "codegen/device_costs.h"
#include "codegen/fused/emit.h"
#include "codegen/fused/graph_text.h"

namespace hone::fused {
namespace {

using graph::Argument;
using graph::ContiguousType;
using graph::Graph;
using graph::ValueKind;
using testing::ElementsAre;
using testing::HasSubstr;

EmitterDevice Device() {
  const DeviceCosts costs = *LoadDeviceCosts();
  return {costs.gpu.processors, costs.gpu.shared_bytes, costs.gpu.cluster_processors};
}

class Case {
 public:
  ValueId Input(Shape shape, DType dtype = DType::kFloat32) {
    const ValueId id = graph.AddValue(ValueKind::kInput, "x", ContiguousType(dtype, std::move(shape)));
    graph::ValueTree leaf;
    leaf.kind = graph::ValueTree::Kind::kValue;
    leaf.value = id;
    graph.AddInput(leaf);
    return id;
  }
  ValueId Weight(const std::string& name, Shape shape) {
    return graph.AddValue(ValueKind::kParameter, name, ContiguousType(DType::kFloat32, std::move(shape)));
  }
  ValueId Node(const std::string& target, std::vector<Argument> arguments, Shape shape,
               DType dtype = DType::kFloat32) {
    const graph::NodeId id =
        graph.Append({target, std::move(arguments), {ContiguousType(dtype, std::move(shape))}});
    return graph.node(id).result();
  }
  ValueId Relu(ValueId x) { return Node("aten.relu.default", {{"self", x}}, graph.type(x).shape); }
  ValueId Softmax(ValueId x, int64_t axis) {
    return Node("aten.softmax.int", {{"self", x}, {"dim", axis}, {"dtype", graph::None{}}},
                graph.type(x).shape);
  }
  ValueId Sum(ValueId x, std::vector<int64_t> axes, Shape shape) {
    return Node("aten.sum.dim_IntList", {{"self", x}, {"dim", std::move(axes)}, {"keepdim", false}},
                std::move(shape));
  }
  ValueId Linear(ValueId x, int64_t units) {
    const ValueId w = Weight("linear.weight", {units, graph.type(x).shape[1]});
    return Node("aten.linear.default", {{"input", x}, {"weight", w}, {"bias", graph::None{}}},
                {graph.type(x).shape[0], units});
  }
  ValueId Slice(ValueId x, int64_t from, int64_t to) {
    return Node("aten.slice.Tensor",
                {{"self", x}, {"dim", int64_t{1}}, {"start", from}, {"end", to}, {"step", int64_t{1}}},
                {graph.type(x).shape[0], to - from});
  }
  void Return(ValueId value) {
    graph::ValueTree leaf;
    leaf.kind = graph::ValueTree::Kind::kValue;
    leaf.value = value;
    graph.SetOutputs(leaf);
  }
  std::vector<std::string> Steps() {
    plan = DivideIntoKernels(graph);
    std::vector<std::string> out;
    for (const Step& step : plan.steps)
      out.push_back(step.is_call ? graph.node(step.node).target : Emit(step.kernel).layout);
    return out;
  }
  KernelText Emit(int kernel) {
    Result<KernelText> text = EmitKernel(Language::kCuda, plan.lowered.program,
                                         plan.kernels[static_cast<size_t>(kernel)], Device());
    EXPECT_TRUE(text.ok()) << text.error().message;
    return text.ok() ? *text : KernelText{};
  }

  Graph graph;
  Plan plan;
};

TEST(Groups, MapsAndReductionsOfOneDomainAreOneKernel) {
  Case c;
  c.Return(c.Relu(c.Softmax(c.Relu(c.Input({4096, 1024})), 1)));
  EXPECT_THAT(c.Steps(), ElementsAre("row"));
  EXPECT_EQ(c.Emit(0).launches.size(), 1u);
  EXPECT_EQ(c.Emit(0).bytes, 2.0 * 4096 * 1024 * 4);
}

TEST(Groups, ACallStandsBetweenKernels) {
  Case c;
  const ValueId x = c.Relu(c.Input({64, 32}));
  c.Return(c.Softmax(c.Relu(c.Linear(x, 16)), 1));
  EXPECT_THAT(c.Steps(), ElementsAre("pointwise", "aten.linear.default", "row"));
}

TEST(Groups, WhatACallMakesOfAKernelIsNotReadByIt) {
  Case c;
  const ValueId x = c.Relu(c.Input({64, 32}));
  const ValueId y = c.Linear(x, 32);
  c.Return(c.Node("aten.add.Tensor", {{"self", x}, {"other", y}, {"alpha", int64_t{1}}}, {64, 32}));
  EXPECT_THAT(c.Steps(), ElementsAre("pointwise", "aten.linear.default", "pointwise"));
}

TEST(Groups, AnotherAxisIsAnotherKernel) {
  Case c;
  c.Return(c.Softmax(c.Softmax(c.Input({300, 400}), 1), 0));
  EXPECT_THAT(c.Steps(), ElementsAre("row", "column"));
}

TEST(Groups, AReductionOfRowsIsAnotherKernel) {
  Case c;
  c.Return(c.Sum(c.Sum(c.Input({300, 400}), {1}, {300}), {0}, {}));
  EXPECT_THAT(c.Steps(), ElementsAre("row", "row"));
}

TEST(Groups, MapsBeforeAPoolingAreComputedAsItLoads) {
  using Ints = std::vector<int64_t>;
  for (const bool also_returned : {false, true}) {
    Case c;
    const ValueId x = c.Relu(c.Relu(c.Input({2, 3, 8, 8})));
    const ValueId y = c.Node("aten.max_pool2d.default",
                             {{"self", x},
                              {"kernel_size", Ints{2, 2}},
                              {"stride", Ints{2, 2}},
                              {"padding", Ints{0, 0}},
                              {"dilation", Ints{1, 1}},
                              {"ceil_mode", false}},
                             {2, 3, 4, 4});
    c.Return(also_returned ? c.Node("aten.sort.default", {{"self", x}, {"other", c.Relu(y)}}, {8})
                           : c.Relu(y));
    if (also_returned)
      EXPECT_THAT(c.Steps(), ElementsAre("pointwise", "pool", "aten.sort.default"));
    else
      EXPECT_THAT(c.Steps(), ElementsAre("pool"));
  }
}

TEST(Groups, AScanFromTheEndIsOneKernel) {
  Case c;
  const Shape shape = {4, 100};
  const std::vector<int64_t> axis = {1};
  const ValueId x = c.Node("aten.flip.default", {{"self", c.Input(shape)}, {"dims", axis}}, shape);
  const ValueId y = c.Node("aten.cumsum.default", {{"self", x}, {"dim", int64_t{1}}}, shape);
  c.Return(c.Node("aten.flip.default", {{"self", y}, {"dims", axis}}, shape));
  EXPECT_THAT(c.Steps(), ElementsAre("scan"));
  EXPECT_THAT(c.Emit(0).source, HasSubstr("#define REVERSED 1"));
}

TEST(Groups, SlicesOfWhatIsComputedAreReadWhereTheyAreUsed) {
  Case c;
  const ValueId x = c.Relu(c.Input({64, 48}));
  const ValueId whole =
      c.Node("aten.mul.Tensor", {{"self", c.Slice(x, 0, 24)}, {"other", c.Slice(x, 24, 48)}}, {64, 24});
  c.Return(whole);
  EXPECT_THAT(c.Steps(), ElementsAre("pointwise"));
  EXPECT_THAT(c.Emit(0).source, HasSubstr(" + 24)"));
  EXPECT_THAT(c.Emit(0).source, HasSubstr("#define VEC 4\n"));
}

TEST(Groups, ASliceOffABoundaryIsNotReadInVectors) {
  Case c;
  c.Return(c.Relu(c.Slice(c.Relu(c.Input({64, 48})), 7, 47)));
  EXPECT_THAT(c.Steps(), ElementsAre("pointwise"));
  EXPECT_THAT(c.Emit(0).source, HasSubstr("#define VEC 1\n"));
}

TEST(Groups, AViewAcrossTheRowsOfAMeanReadsWhatWasWritten) {
  Case c;
  const ValueId x = c.Input({4, 18});
  const ValueId mean =
      c.Node("aten.mean.dim", {{"self", x}, {"dim", std::vector<int64_t>{1}}, {"keepdim", true}}, {4, 1});
  const ValueId less =
      c.Node("aten.sub.Tensor", {{"self", x}, {"other", mean}, {"alpha", int64_t{1}}}, {4, 18});
  const ValueId flat =
      c.Node("aten.reshape.default", {{"self", less}, {"shape", std::vector<int64_t>{72}}}, {72});
  const ValueId some = c.Node("aten.slice.Tensor",
                              {{"self", flat},
                               {"dim", int64_t{0}},
                               {"start", int64_t{11}},
                               {"end", int64_t{71}},
                               {"step", int64_t{2}}},
                              {30});
  c.Return(c.Relu(some));
  EXPECT_THAT(c.Steps(), ElementsAre("row", "pointwise"));
}

TEST(Groups, ATransposedScanWhoseAxesAreMergedIsReadByItsOwnAxes) {
  Case c;
  const ValueId scan =
      c.Node("aten.cumsum.default", {{"self", c.Input({8, 8, 33})}, {"dim", int64_t{1}}}, {8, 8, 33});
  const ValueId turned =
      c.Node("aten.transpose.int", {{"self", scan}, {"dim0", int64_t{1}}, {"dim1", int64_t{2}}}, {8, 33, 8});
  const ValueId flat =
      c.Node("aten.reshape.default", {{"self", turned}, {"shape", std::vector<int64_t>{264, 8}}}, {264, 8});
  c.Return(c.Relu(flat));
  EXPECT_THAT(c.Steps(), ElementsAre("scan", "pointwise"));
}

TEST(Groups, AViewThatACallReadsIsAtens) {
  Case c;
  c.Return(c.Linear(c.Slice(c.Relu(c.Input({64, 48})), 8, 48), 16));
  EXPECT_THAT(c.Steps(), ElementsAre("pointwise", "aten.slice.Tensor", "aten.linear.default"));
}

TEST(Groups, PartsOfAConcatenationAreComputedAsItIsWritten) {
  for (const bool maps : {true, false}) {
    Case c;
    const ValueId x = c.Input({64, 48});
    const ValueId a = c.Linear(x, 16), b = c.Linear(x, 24);
    graph::ValueList parts = {maps ? c.Relu(a) : a, maps ? c.Relu(b) : b};
    c.Return(c.Node("aten.cat.default", {{"tensors", parts}, {"dim", int64_t{1}}}, {64, 40}));
    const std::string last =
        maps ? "pointwise" : "aten.cat.default";  // without neighbours to join, ATen copies as well
    EXPECT_THAT(c.Steps(), ElementsAre("aten.linear.default", "aten.linear.default", last));
  }
}

TEST(Groups, AnIndexIsReadInTheKernelThatReducesWhatItChooses) {
  Case c;
  const ValueId index = c.Input({512}, DType::kInt64);
  const ValueId rows = c.Node("aten.embedding.default",
                              {{"weight", c.Weight("w", {100000, 768})}, {"indices", index}}, {512, 768});
  c.Return(c.Softmax(rows, 1));
  EXPECT_THAT(c.Steps(), ElementsAre("row"));
  EXPECT_EQ(c.Emit(0).bytes, 2.0 * 512 * 768 * 4 + 512 * 8);  // not the whole table
}

TEST(Groups, ATriangleJoinsItsNeighbours) {
  Case c;
  const ValueId x = c.Relu(c.Input({8, 64, 64}));
  c.Return(c.Softmax(c.Node("aten.tril.default", {{"self", x}, {"diagonal", int64_t{0}}}, {8, 64, 64}), 2));
  EXPECT_THAT(c.Steps(), ElementsAre("row"));
}

TEST(Groups, WhatDependsOnWeightsAloneIsLeftToAten) {
  Case c;
  const ValueId w = c.Node("aten.exp.default", {{"self", c.Weight("w", {64, 32})}}, {64, 32});
  c.Return(c.Node("aten.mul.Tensor", {{"self", c.Relu(c.Input({64, 32}))}, {"other", w}}, {64, 32}));
  EXPECT_THAT(c.Steps(), ElementsAre("aten.exp.default", "pointwise"));
  const Result<GraphText> text = WriteGraph(c.graph, c.plan, Language::kCuda, Device());
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_EQ(text->calls, 0);
  EXPECT_EQ(text->values.at("fixed").at("lines").size(), 1u);
}

TEST(Groups, WhatNoEmitterKnowsStaysACall) {
  Case c;
  c.Return(c.Node("aten.sort.default", {{"self", c.Input({8})}}, {8}));
  EXPECT_THAT(c.Steps(), ElementsAre("aten.sort.default"));
}

TEST(Groups, AnEmptyTensorStaysACall) {
  Case c;
  c.Return(c.Relu(c.Input({0, 3})));
  EXPECT_THAT(c.Steps(), ElementsAre("aten.relu.default"));
}

TEST(Emit, FewLongRowsAreSplitAndManyShareAChipInClusters) {
  struct Row {
    Shape shape;
    size_t launches;
    int64_t cluster;
    int64_t shared;
  };
  for (const Row& row : {Row{{16, 4194304}, 2, 1, 0}, Row{{4096, 393216}, 1, 8, 196608},
                         Row{{4096, 32768}, 1, 2, 65536}, Row{{4096, 4096}, 1, 1, 0}}) {
    Case c;
    c.Return(c.Softmax(c.Input(row.shape), 1));
    c.Steps();
    const KernelText text = c.Emit(0);
    ASSERT_EQ(text.launches.size(), row.launches) << row.shape[1];
    EXPECT_EQ(text.launches[0].cluster, row.cluster) << row.shape[1];
    EXPECT_EQ(text.launches[0].shared_bytes, row.shared) << row.shape[1];
  }
}

TEST(Emit, TakesSixteenBytesAtATimeWhereTheyLieTogether) {
  struct Row {
    Shape shape;
    DType dtype;
    const char* vec;
  };
  for (const Row& row :
       {Row{{64, 64}, DType::kFloat32, "#define VEC 4\n"}, Row{{64, 64}, DType::kFloat16, "#define VEC 8\n"},
        Row{{64, 63}, DType::kFloat32, "#define VEC 1\n"},
        Row{{64, 62}, DType::kFloat32, "#define VEC 2\n"}}) {
    Case c;
    const ValueId x = c.Input(row.shape, row.dtype);
    c.Return(c.Node("aten.softmax.int", {{"self", x}, {"dim", int64_t{1}}}, row.shape, row.dtype));
    c.Steps();
    EXPECT_THAT(c.Emit(0).source, HasSubstr(row.vec));
  }
}

TEST(Emit, IndicesAreWideWhereTheyMustBe) {
  Case c;
  c.Return(c.Relu(c.Input({1 << 16, 1 << 16})));
  c.Steps();
  EXPECT_THAT(c.Emit(0).source, HasSubstr("typedef unsigned long long Index"));
}

TEST(GraphText, TensorsAreGivenBackAndWeightsReadFromTheModel) {
  Case c;
  c.Return(c.Relu(c.Relu(c.Linear(c.Relu(c.Input({64, 32})), 16))));
  const Plan plan = DivideIntoKernels(c.graph);
  const Result<GraphText> text = WriteGraph(c.graph, plan, Language::kCuda, Device());
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_EQ(text->calls, 1);
  EXPECT_EQ(text->launches, 2);
  const std::string steps = DumpJson(text->values.at("steps"));
  EXPECT_THAT(steps, HasSubstr("_aten0.one("));
  EXPECT_THAT(steps, HasSubstr("del "));
  EXPECT_THAT(DumpJson(text->values.at("weights")), HasSubstr("linear.weight"));
}

TEST(Groups, WhatNoTemplateCoversIsACallAndTheRestIsDividedAgain) {
  Case c;
  const ValueId x = c.Input({int64_t{1} << 31, 4});  // too many rows for one block each
  const ValueId sums =
      c.Node("aten.cumsum.default", {{"self", c.Relu(x)}, {"dim", int64_t{1}}}, {int64_t{1} << 31, 4});
  c.Return(c.Relu(sums));
  const Plan first = DivideIntoKernels(c.graph);
  const Result<GraphText> text = WriteGraph(c.graph, first, Language::kCuda, Device());
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(text->why_uncovered, HasSubstr("too many blocks"));
  const Plan plan = DivideIntoKernels(c.graph, {c.graph.value(sums).node});
  ASSERT_EQ(plan.steps.size(), 3u);
  EXPECT_FALSE(plan.steps[0].is_call);
  EXPECT_TRUE(plan.steps[1].is_call);
  const Result<GraphText> again = WriteGraph(c.graph, plan, Language::kCuda, Device());
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->uncovered.empty());
}

TEST(Groups, OneRowOfMoreThanABlockKeepsIsAClusters) {
  Case c;
  c.Return(c.Softmax(c.Input({1, 200000}), 1));
  EXPECT_THAT(c.Steps(), ElementsAre("row"));
  const KernelText text = c.Emit(0);
  ASSERT_EQ(text.launches.size(), 1u);
  EXPECT_EQ(text.launches[0].cluster, 8);
}

TEST(Groups, FewLongScansAreDivided) {
  Case c;
  const ValueId x = c.Input({2, 1 << 20});
  c.Return(c.Node("aten.cumsum.default", {{"self", x}, {"dim", int64_t{1}}}, {2, 1 << 20}));
  EXPECT_THAT(c.Steps(), ElementsAre("scan"));
  ASSERT_EQ(c.Emit(0).launches.size(), 2u);
  EXPECT_GT(c.Emit(0).launches[0].blocks, 100);
}

}  // namespace
}  // namespace hone::fused

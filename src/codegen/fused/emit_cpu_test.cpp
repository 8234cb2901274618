// Tests the layouts of CPU kernels: which layout a graph gets, when rows are divided, when exponentials are
// kept. tests/end_to_end/fused_graph_test.py runs the kernels to check their results.
#include "codegen/fused/emit_cpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/fused/graph_text.h"

namespace hone::fused {
namespace {

using graph::Argument;
using graph::ContiguousType;
using testing::HasSubstr;
using testing::Not;

constexpr EmitterDevice kTwoCores{2, 0};

// A graph of one operator over one input.
struct OneNode {
  OneNode(const std::string& target, std::vector<Argument> arguments, Shape in, Shape out) {
    const ValueId x = graph.AddValue(graph::ValueKind::kInput, "x", ContiguousType(DType::kFloat32, in));
    AddLeaf(x, true);
    arguments.insert(arguments.begin(), Argument{"self", x});
    const graph::NodeId id =
        graph.Append({target, std::move(arguments), {ContiguousType(DType::kFloat32, std::move(out))}});
    AddLeaf(graph.node(id).result(), false);
    plan = DivideIntoKernels(graph);
  }
  void AddLeaf(ValueId value, bool input) {
    graph::ValueTree leaf;
    leaf.kind = graph::ValueTree::Kind::kValue;
    leaf.value = value;
    if (input)
      graph.AddInput(leaf);
    else
      graph.SetOutputs(leaf);
  }
  KernelText Emit() const {
    Result<KernelText> text = EmitKernel(Language::kCpp, plan.lowered.program, plan.kernels.at(0), kTwoCores);
    EXPECT_TRUE(text.ok()) << text.error().message;
    return text.ok() ? *text : KernelText{};
  }
  graph::Graph graph;
  Plan plan;
};

OneNode Softmax(Shape shape, int64_t axis) {
  return OneNode("aten.softmax.int", {{"dim", axis}, {"dtype", graph::None{}}}, shape, shape);
}
OneNode Sum(Shape shape, int64_t axis, Shape rest) {
  return OneNode("aten.sum.dim_IntList", {{"dim", std::vector<int64_t>{axis}}, {"keepdim", false}},
                 std::move(shape), std::move(rest));
}

TEST(EmitCpu, MapsComputeVectors) {
  const KernelText text = OneNode("aten.relu.default", {}, {64, 100}, {64, 100}).Emit();
  EXPECT_EQ(text.layout, "pointwise");
  EXPECT_THAT(text.source, HasSubstr("const Lanes<float> t1 = Relu(t0);"));
  EXPECT_THAT(text.source, HasSubstr("kTotal = 6400, kInner = 6400"));
  EXPECT_EQ(text.launches.size(), 1u);
}

TEST(EmitCpu, LayoutFollowsTheReducedAxis) {
  EXPECT_EQ(Sum({300, 400}, 1, {300}).Emit().layout, "row");
  EXPECT_EQ(Sum({300, 400}, 0, {400}).Emit().layout, "column");
}

TEST(EmitCpu, ExponentialsOfShortRowsAreKept) {
  EXPECT_THAT(Softmax({64, 1000}, 1).Emit().source, HasSubstr("kept_row[kLength + 16]"));
  EXPECT_THAT(Softmax({64, 100000}, 1).Emit().source, Not(HasSubstr("kept_row")));
  EXPECT_THAT(Softmax({64, 1000}, 0).Emit().source, Not(HasSubstr("kept_row")));
}

TEST(EmitCpu, FewLongRowsAreDividedWhateverTheThreads) {
  const KernelText divided = Sum({2, 4000000}, 1, {2}).Emit();
  EXPECT_THAT(divided.source, HasSubstr("scratch0"));
  EXPECT_EQ(divided.operands.back().role, KernelOperand::Role::kScratch);
  EXPECT_GE(divided.operands.back().bytes, 2 * 61 * 8);
  EXPECT_THAT(Sum({2000, 4000}, 1, {2000}).Emit().source, Not(HasSubstr("scratch0")));
}

TEST(EmitCpu, ScansAreOneLaunchAndReadOnce) {
  const KernelText text =
      OneNode("aten.cumsum.default", {{"dim", int64_t{1}}, {"dtype", graph::None{}}}, {8, 900}, {8, 900})
          .Emit();
  EXPECT_EQ(text.layout, "scan");
  EXPECT_EQ(text.bytes, 2.0 * 8 * 900 * 4);
  EXPECT_THAT(text.source, HasSubstr("scan_vectors"));
}

}  // namespace
}  // namespace hone::fused

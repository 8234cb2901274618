#include "graph/graph.h"
#include "base/json.h"

#include <gtest/gtest.h>

#include "graph/graph_fixture.h"
#include "graph/graph_json.h"
#include "graph/graph_text.h"

namespace hone::graph {
namespace {

// y = relu(x + w), which returns y twice.
Graph SmallGraph() {
  Graph graph;
  const ValueId x = graph.AddValue(ValueKind::kInput, "x", F32({2, 3}));
  const ValueId w = graph.AddValue(ValueKind::kParameter, "w", F32({3}));
  ValueTree input;
  input.kind = ValueTree::Kind::kValue;
  input.value = x;
  graph.AddInput(input);
  const NodeId add = graph.Append(
      {"aten.add.Tensor", {{"self", x}, {"other", w}, {"alpha", int64_t{1}}}, {F32({2, 3})}, "block"});
  const NodeId relu =
      graph.Append({"aten.relu.default", {{"self", graph.node(add).result()}}, {F32({2, 3})}});
  ValueTree leaf;
  leaf.kind = ValueTree::Kind::kValue;
  leaf.value = graph.node(relu).result();
  ValueTree outputs;
  outputs.kind = ValueTree::Kind::kDict;
  outputs.children = {leaf, leaf};
  outputs.keys = {"a", "b"};
  graph.SetOutputs(outputs);
  return graph;
}

TEST(Graph, KnowsUsersAndDefinitions) {
  const Graph graph = SmallGraph();
  ASSERT_TRUE(graph.Verify().ok());
  const Node& add = graph.node(graph.order()[0]);
  EXPECT_EQ(add.op, Op::kAdd);
  EXPECT_EQ(ClassOf(add.op), OpClass::kPointwise);
  EXPECT_TRUE(graph.HasOneUse(add.result()));
  EXPECT_EQ(graph.Users(add.result())[0], graph.order()[1]);
  EXPECT_EQ(graph.Definition(add.result()), &add);
  EXPECT_TRUE(graph.IsOutput(graph.node(graph.order()[1]).result()));
  EXPECT_EQ(add.NumberArg("alpha"), 1.0);
  EXPECT_FALSE(add.NumberArg("beta"));
}

TEST(Graph, ReplacesUsesInArgumentsAndOutputs) {
  Graph graph = SmallGraph();
  const NodeId relu = graph.order()[1];
  const ValueId before = graph.node(relu).result();
  const NodeId sigmoid = graph.Append({"aten.sigmoid.default", {{"self", before}}, {F32({2, 3})}});
  graph.ReplaceUses(before, *graph.node(relu).ValueArg("self"));
  EXPECT_TRUE(graph.Verify().ok());
  EXPECT_EQ(graph.node(sigmoid).ValueArg("self"), graph.node(relu).ValueArg("self"));
  EXPECT_EQ(graph.EraseDead(), 2);  // relu and sigmoid
  EXPECT_TRUE(graph.Verify().ok());
  EXPECT_EQ(graph.order().size(), 1u);
}

TEST(Graph, VerifyFindsAReadBeforeTheWrite) {
  Graph graph = SmallGraph();
  const NodeId add = graph.order()[0];
  graph.SetArgument(add, "other", graph.node(graph.order()[1]).result());
  EXPECT_FALSE(graph.Verify().ok());
}

TEST(Graph, InsertsBeforeANode) {
  Graph graph = SmallGraph();
  const NodeId relu = graph.order()[1];
  const ValueId sum = *graph.node(relu).ValueArg("self");
  const NodeId neg = graph.InsertBefore(relu, {"aten.neg.default", {{"self", sum}}, {F32({2, 3})}});
  graph.SetArgument(relu, "self", graph.node(neg).result());
  EXPECT_TRUE(graph.Verify().ok());
  EXPECT_EQ(graph.order()[1], neg);
  EXPECT_TRUE(graph.HasOneUse(sum));
}

TEST(Graph, TellsWhatDependsOnTheInputs) {
  Graph graph = SmallGraph();
  const ValueId w = graph.ValuesOf(ValueKind::kParameter)[0];
  const ValueId x = graph.ValuesOf(ValueKind::kInput)[0];
  const NodeId folded = graph.Append({"aten.neg.default", {{"self", w}}, {F32({3})}});
  const NodeId drawn = graph.Append({"aten.rand_like.default", {{"self", w}}, {F32({3})}});
  const NodeId zeros = graph.Append({"aten.zeros_like.default", {{"self", x}}, {F32({2, 3})}});
  const ValueId computed = graph.node(graph.order()[1]).result();
  const NodeId waits = graph.Append({"aten.ones_like.default", {{"self", computed}}, {F32({2, 3})}});
  const NodeId behind =
      graph.Append({"aten.neg.default", {{"self", graph.node(waits).result()}}, {F32({2, 3})}});
  const std::vector<bool> fixed = FixedValues(graph);
  EXPECT_FALSE(fixed[static_cast<size_t>(graph.node(waits).result())])
      << "it needs the computed value's shape";
  EXPECT_FALSE(fixed[static_cast<size_t>(graph.node(behind).result())]);
  EXPECT_TRUE(fixed[static_cast<size_t>(graph.node(folded).result())]);
  EXPECT_FALSE(fixed[static_cast<size_t>(graph.node(drawn).result())]);
  EXPECT_TRUE(fixed[static_cast<size_t>(graph.node(zeros).result())]);
  EXPECT_FALSE(fixed[static_cast<size_t>(graph.node(graph.order()[1]).result())]);
}

TEST(GraphJson, ReturnsTheSameGraph) {
  Graph graph = SmallGraph();
  graph.AddConstant("table", F32({2}), {1.5, -std::numeric_limits<double>::infinity()});
  graph.Append({"aten.other.x",
                {{"none", None{}},
                 {"flag", true},
                 {"number", 0.5},
                 {"nan", std::numeric_limits<double>::infinity()},
                 {"dtype", DType::kBFloat16},
                 {"text", std::string("mean")},
                 {"device", Symbol{"device", "cuda:0"}},
                 {"ints", std::vector<int64_t>{1, -1}},
                 {"floats", std::vector<double>{1, 2.5}},
                 {"flags", std::vector<bool>{true, false}},
                 {"values", ValueList{graph.ValuesOf(ValueKind::kInput)[0], std::nullopt}}},
                {F32({}), {DType::kInt64, {2, 2}, {1, 2}}}});
  graph.verified = true;
  const Json json = ToJson(graph);
  const Result<Json> parsed = ParseJson(DumpJson(json));
  ASSERT_TRUE(parsed.ok());
  const Result<Graph> again = GraphFromJson(*parsed);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_TRUE(again->verified);
  // Parsing numbers the values again, so only the second and third text must be equal.
  const Result<Graph> third = GraphFromJson(ToJson(*again));
  ASSERT_TRUE(third.ok());
  EXPECT_EQ(ToJson(*third), ToJson(*again));
  const Node& node = graph.node(graph.order()[2]);
  const Node& read = again->node(again->order()[2]);
  EXPECT_EQ(read.arguments, node.arguments);
  EXPECT_EQ(again->type(read.results[1]), graph.type(node.results[1]));
  EXPECT_EQ(again->value(again->ValuesOf(ValueKind::kConstant)[0]).data,
            graph.value(graph.ValuesOf(ValueKind::kConstant)[0]).data);
}

TEST(GraphJson, SaysWhatIsWrong) {
  struct Case {
    const char* json;
    const char* said;
  };
  const Case kCases[] = {
      {"[]", "no object"},
      {R"({"version": 7})", "version 7"},
      {R"({"version": 1, "values": [{"id": 0, "kind": "input", "dtype": "float7", "shape": [], "strides": []}],
          "outputs": {"tuple": []}})",
       "float7"},
      {R"({"version": 1, "values": [{"id": 0, "kind": "oddity", "dtype": "bool", "shape": [], "strides": []}],
          "outputs": {"tuple": []}})",
       "oddity"},
      {R"({"version": 1, "values": [], "outputs": {"v": 3}})", "before it is written"},
      {R"({"version": 1, "nodes": [{"target": "aten.x", "args": [["self", {"v": 9}]], "results": []}],
          "outputs": {"tuple": []}})",
       "before it is written"},
      {R"({"version": 1, "nodes": [{"target": "aten.x", "args": [], "results": []}], "outputs": {"tuple": []}})",
       "no result"},
  };
  for (const Case& one : kCases) {
    const Result<Graph> graph = GraphFromJson(*ParseJson(one.json));
    ASSERT_FALSE(graph.ok()) << one.json;
    EXPECT_NE(graph.error().message.find(one.said), std::string::npos) << graph.error().message;
  }
}

TEST(GraphText, PrintsOneNodePerLine) {
  EXPECT_EQ(ToText(SmallGraph()),
            "%0 float32[2, 3] = input x\n"
            "%1 float32[3] = parameter w\n"
            "%2 float32[2, 3] = aten.add.Tensor(self=%0, other=%1, alpha=1)  # block\n"
            "%3 float32[2, 3] = aten.relu.default(self=%2)\n"
            "return {'a': %3, 'b': %3}\n");
}

TEST(TensorType, KnowsContiguousStrides) {
  EXPECT_TRUE(F32({2, 1, 3}).is_contiguous());
  EXPECT_FALSE((TensorType{DType::kFloat32, {2, 3}, {1, 2}}).is_contiguous());
  EXPECT_TRUE((TensorType{DType::kFloat32, {1, 3}, {7, 1}}).is_contiguous());
  EXPECT_EQ(ToText(TensorType{DType::kInt8, {2, 3}, {1, 2}}), "int8[2, 3]{1, 2}");
  EXPECT_EQ(BroadcastShapes({4, 1, 3}, {2, 1}), (Shape{4, 2, 3}));
  EXPECT_FALSE(BroadcastShapes({4, 3}, {2, 3}));
  EXPECT_EQ(NormalizeAxis(-1, 3), 2);
  EXPECT_FALSE(NormalizeAxis(3, 3));
}

TEST(Op, IsFoundByTargetWithoutOverload) {
  EXPECT_EQ(OpFromTarget("aten.softmax.int"), Op::kSoftmax);
  EXPECT_EQ(OpFromTarget("aten.conv3d.default"), Op::kConv);
  EXPECT_EQ(OpFromTarget("aten.something_new.default"), Op::kOther);
  EXPECT_EQ(OpFromTarget("mylib.relu.default"), Op::kOther);
  EXPECT_STREQ(NameOf(Op::kAttention), "scaled_dot_product_attention");
  EXPECT_STREQ(NameOf(ClassOf(Op::kGru)), "recurrent");
}

}  // namespace
}  // namespace hone::graph

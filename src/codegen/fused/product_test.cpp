// Tests which products the split kernel takes, which operand provides rows and units, and how the file calls
// them. tests/end_to_end/products_host_test.py runs them to check their results.
#include "codegen/fused/product.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "codegen/fused/graph_text.h"
#include "graph/graph_fixture.h"

namespace hone::fused {
namespace {

using graph::Argument;
using graph::F32;
using graph::Graph;
using graph::NodeId;
using graph::Shape;
using graph::ValueKind;
using testing::HasSubstr;
using testing::Not;

// One node over inputs with these shapes. `weight` is the index of an input that is a weight.
struct ProductGraph {
  ProductGraph(const std::string& target, const std::vector<Shape>& shapes, Shape result, int weight = -1) {
    for (size_t i = 0; i < shapes.size(); ++i) {
      const bool fixed = static_cast<int>(i) == weight;
      values.push_back(graph.AddValue(fixed ? ValueKind::kParameter : ValueKind::kInput,
                                      "v" + std::to_string(i), F32(shapes[i])));
      if (!fixed) graph.AddInput(graph::Leaf(values.back()));
    }
    std::vector<Argument> arguments;
    if (target == "linear")
      arguments = {{"input", values[0]}, {"weight", values[1]}, {"bias", graph::None{}}};
    else if (target == "addmm")
      arguments = {{"self", values[0]},
                   {"mat1", values[1]},
                   {"mat2", values[2]},
                   {"beta", int64_t{1}},
                   {"alpha", int64_t{1}}};
    else if (Contains(target, "->"))
      arguments = {
          {"equation", target}, {"tensors", graph::ValueList{values[0], values[1]}}, {"path", graph::None{}}};
    else
      arguments = {{"self", values[0]}, {target == "matmul" ? "other" : "mat2", values[1]}};
    const std::string name = Contains(target, "->") ? "einsum" : target;
    node = graph.Append({"aten." + name + ".default", std::move(arguments), {F32(std::move(result))}});
    graph.SetOutputs(graph::Leaf(graph.node(node).result()));
  }
  std::optional<Product> Found() const { return ProductOfNode(graph, graph.node(node)); }
  std::map<NodeId, Product> Chosen() const { return ChooseProducts(graph, LoadDeviceCosts()->gpu); }
  std::string Text() const {
    const Plan plan = DivideIntoKernels(graph);
    const DeviceCosts costs = *LoadDeviceCosts();
    const auto text =
        WriteGraph(graph, plan, Language::kCuda, {costs.gpu.processors, costs.gpu.shared_bytes}, Chosen());
    return text.ok() ? DumpJson(text->values) : text.error().message;
  }

  Graph graph;
  std::vector<graph::ValueId> values;
  NodeId node{-1};
};

TEST(Product, FindsRowsUnitsAndBatch) {
  struct Row {
    ProductGraph made;
    std::string about;
    bool swapped;
  };
  const Row rows[] = {
      {{"mm", {{3, 4}, {4, 5}}, {3, 5}}, "3 x 4 x 5", false},
      {{"bmm", {{2, 3, 4}, {2, 4, 5}}, {2, 3, 5}}, "2 x 3 x 4 x 5", false},
      {{"matmul", {{2, 3, 4}, {4, 5}}, {2, 3, 5}}, "6 x 4 x 5", false},
      {{"matmul", {{3, 4}, {2, 4, 5}}, {2, 3, 5}}, "2 x 3 x 4 x 5", false},
      {{"matmul", {{2, 7, 3, 4}, {2, 7, 4, 5}}, {2, 7, 3, 5}}, "14 x 3 x 4 x 5", false},
      {{"linear", {{2, 3, 4}, {5, 4}}, {2, 3, 5}}, "6 x 4 x 5", false},
      {{"addmm", {{5}, {3, 4}, {4, 5}}, {3, 5}}, "3 x 4 x 5", false},
      {{"bijl,lk->bijk", {{2, 3, 6, 4}, {4, 5}}, {2, 3, 6, 5}}, "36 x 4 x 5", false},
      {{"bik,bjk->bij", {{2, 3, 4}, {2, 5, 4}}, {2, 3, 5}}, "2 x 3 x 4 x 5", false},
      {{"kj,ik->ij", {{4, 5}, {3, 4}}, {3, 5}}, "3 x 4 x 5", true},
  };
  for (const Row& row : rows) {
    const std::optional<Product> product = row.made.Found();
    ASSERT_TRUE(product) << row.about;
    EXPECT_EQ(product->About(), row.about);
    EXPECT_EQ(product->x == row.made.values[row.made.values.size() - 2], !row.swapped) << row.about;
  }
}

TEST(Product, LeavesWhatItDoesNotCover) {
  const std::pair<const char*, ProductGraph> cases[] = {
      {"a vector", {"matmul", {{4}, {4, 5}}, {5}}},
      {"both operands are repeated", {"matmul", {{2, 1, 3, 4}, {1, 7, 4, 5}}, {2, 7, 3, 5}}},
      {"what is added is no bias", {"addmm", {{3, 5}, {3, 4}, {4, 5}}, {3, 5}}},
      {"a diagonal", {"ii,ik->ik", {{3, 3}, {3, 5}}, {3, 5}}},
      {"two axes are summed", {"ijk,jkl->il", {{3, 4, 2}, {4, 2, 5}}, {3, 5}}},
      {"rows and units alternate", {"ijk,kl->ilj", {{3, 4, 2}, {2, 5}}, {3, 5, 4}}},
  };
  for (const auto& [why, made] : cases) EXPECT_FALSE(made.Found()) << why;
}

TEST(Product, TakesWhatIsLargeEnough) {
  EXPECT_EQ(ProductGraph("matmul", {{4096, 4096}, {4096, 4096}}, {4096, 4096}).Chosen().size(), 1U);
  EXPECT_EQ(ProductGraph("matmul", {{256, 256}, {256, 256}}, {256, 256}).Chosen().size(), 0U);
  // Reading and writing take longer than PyTorch's multiplications.
  EXPECT_EQ(ProductGraph("matmul", {{32768, 32}, {32, 32768}}, {32768, 32768}).Chosen().size(), 0U);
  // With a small k, PyTorch's time to write the result is not hidden by multiplications.
  EXPECT_EQ(ProductGraph("matmul", {{32768, 64}, {64, 32768}}, {32768, 32768}).Chosen().size(), 1U);
  EXPECT_EQ(ProductGraph("linear", {{4, 8192}, {8192, 8192}}, {4, 8192}, 1).Chosen().size(), 0U);
}

TEST(Product, PacksWhatFollowsFromWeights) {
  const std::string text = ProductGraph("linear", {{1024, 8192}, {8192, 8192}}, {1024, 8192}, 1).Text();
  EXPECT_THAT(text, HasSubstr("p0 = _product0.pack(device, v1)"));
  EXPECT_THAT(text,
              HasSubstr("_product0(device, stream, v0, v1, None, p0, lambda: _aten0.one(v0, v1, None))"));
  const std::string dynamic = ProductGraph("mm", {{4096, 4096}, {4096, 4096}}, {4096, 4096}).Text();
  EXPECT_THAT(dynamic, Not(HasSubstr("pack(")));
  EXPECT_THAT(dynamic,
              HasSubstr("_product0(device, stream, v0, v1, None, None, lambda: _aten0.one(v0, v1))"));
}

// scores -> [number] -> softmax -> product -> [permuted, copied, permuted back], or product -> triangle.
struct AroundGraph {
  graph::ValueId Input(Shape shape) {
    const graph::ValueId id = graph.AddValue(ValueKind::kInput, "x", F32(std::move(shape)));
    graph.AddInput(graph::Leaf(id));
    return id;
  }
  graph::ValueId Add(const std::string& target, std::vector<Argument> arguments, Shape shape) {
    return graph.node(graph.Append({target, std::move(arguments), {F32(std::move(shape))}})).result();
  }
  void SoftmaxProduct(int64_t length, bool reorders, bool read_twice = false, int64_t axis = -1) {
    const Shape scores = {16, 16, 1024, length}, made = {16, 16, 1024, 512}, turned = {16, 1024, 16, 512};
    graph::ValueId x = Input(scores);
    x = Add("aten.div.Tensor", {{"self", x}, {"other", 8.0}}, scores);
    x = Add("aten.softmax.int", {{"self", x}, {"dim", axis}, {"dtype", graph::None{}}}, scores);
    const graph::ValueId shares = x;
    x = Add("aten.matmul.default", {{"self", x}, {"other", Input({16, 16, length, 512})}}, made);
    if (reorders) {
      const std::vector<int64_t> order = {0, 2, 1, 3};
      x = Add("aten.permute.default", {{"self", x}, {"dims", order}}, turned);
      x = Add("aten.contiguous.default",
              {{"self", x}, {"memory_format", graph::Symbol{"memory_format", "contiguous_format"}}}, turned);
      x = Add("aten.permute.default", {{"self", x}, {"dims", order}}, made);
    }
    graph::ValueTree both = graph::Leaf(x);
    if (read_twice) {
      both = {};
      both.children = {graph::Leaf(x), graph::Leaf(shares)};
    }
    graph.SetOutputs(both);
  }
  void Triangle(const Shape& x, const Shape& w, const Shape& made, const std::string& op, int64_t diagonal) {
    const graph::ValueId product =
        Add("aten.matmul.default", {{"self", Input(x)}, {"other", Input(w)}}, made);
    graph.SetOutputs(
        graph::Leaf(Add("aten." + op + ".default", {{"self", product}, {"diagonal", diagonal}}, made)));
  }
  int Folded() { return FoldAroundProducts(graph, LoadDeviceCosts()->gpu); }
  // The additional arguments of the file's object.
  std::string Around() const {
    const DeviceCosts costs = *LoadDeviceCosts();
    const auto text =
        WriteGraph(graph, DivideIntoKernels(graph), Language::kCuda,
                   {costs.gpu.processors, costs.gpu.shared_bytes}, ChooseProducts(graph, costs.gpu));
    return text.ok() && text->products == 1 ? text->values["products"][0]["around"].get<std::string>() : "?";
  }

  Graph graph;
};

TEST(Product, TakesTheSoftmaxInFrontAndTheOrderBehind) {
  struct Row {
    int64_t length;
    bool reorders, read_twice;
    int64_t axis;
    std::string around;
  };
  const Row rows[] = {{1024, false, false, -1, ", softmax=0.125"},
                      {1024, true, false, 3, ", softmax=0.125, order=(0, 2, 1, 3)"},
                      {1024, false, true, -1, ""},    // the softmax has another reader
                      {1024, false, false, 2, ""},    // not along k
                      {8192, false, false, -1, ""}};  // a warp cannot hold a row
  for (const Row& row : rows) {
    AroundGraph made;
    made.SoftmaxProduct(row.length, row.reorders, row.read_twice, row.axis);
    EXPECT_EQ(made.Folded(), row.around.empty() ? 0 : 1) << row.length << row.around;
    EXPECT_EQ(made.Around(), row.around);
    EXPECT_TRUE(made.graph.Verify().ok());
  }
}

TEST(Product, ComputesTheTriangleThatIsKept) {
  AroundGraph upper, lower, batch, rows, small;
  upper.Triangle({4096, 4096}, {4096, 4096}, {4096, 4096}, "triu", 1);
  lower.Triangle({4096, 4096}, {4096, 4096}, {4096, 4096}, "tril", 0);
  batch.Triangle({8, 2048, 2048}, {8, 2048, 2048}, {8, 2048, 2048}, "tril", -3);
  rows.Triangle({8, 2048, 2048}, {2048, 2048}, {8, 2048, 2048}, "triu",
                0);  // the rows of all matrices are merged
  small.Triangle({64, 64}, {64, 64}, {64, 64}, "triu", 0);
  const std::pair<AroundGraph*, std::string> cases[] = {{&upper, ", kept=(1, 1)"},
                                                        {&lower, ", kept=(2, 0)"},
                                                        {&batch, ", kept=(2, -3)"},
                                                        {&rows, ""},
                                                        {&small, "?"}};
  for (const auto& [made, around] : cases) {
    EXPECT_EQ(made->Folded(), StartsWith(around, ",") ? 1 : 0) << around;
    EXPECT_EQ(made->Around(), around);
    EXPECT_TRUE(made->graph.Verify().ok());
  }
}

}  // namespace
}  // namespace hone::fused

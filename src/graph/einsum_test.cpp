#include "graph/einsum.h"

#include <gtest/gtest.h>

namespace hone::graph {
namespace {

std::optional<Einsum> Parsed(const std::string& equation, const std::vector<Shape>& shapes) {
  Graph graph;
  ValueList tensors;
  for (const Shape& shape : shapes)
    tensors.push_back(graph.AddValue(ValueKind::kInput, "x", ContiguousType(DType::kFloat32, shape)));
  const NodeId id = graph.Append({"aten.einsum.default",
                                  {{"equation", equation}, {"tensors", tensors}, {"path", None{}}},
                                  {ContiguousType(DType::kFloat32, {})}});
  return EinsumOf(graph, graph.node(id));
}

TEST(Einsum, IsReadWithAndWithoutAnArrow) {
  EXPECT_EQ(Parsed("ab, bc -> ca", {{2, 3}, {3, 4}})->out, "ca");
  EXPECT_EQ(Parsed("ba,bc", {{2, 3}, {2, 4}})->out, "ac");
  EXPECT_EQ(Parsed("ab,bc->", {{2, 3}, {3, 4}})->out, "");
  EXPECT_EQ(Parsed("ab,bc->ac", {{2, 3}, {3, 4}})->sizes,
            (std::map<char, int64_t>{{'a', 2}, {'b', 3}, {'c', 4}}));
}

TEST(Einsum, IsLeftAloneWhereItsLettersAreNotPlainAxes) {
  EXPECT_FALSE(Parsed("...a,ab->b", {{2, 3}, {3, 4}}));
  EXPECT_FALSE(Parsed("aa,ab->b", {{3, 3}, {3, 4}}));
  EXPECT_FALSE(Parsed("ab,bc->aac", {{2, 3}, {3, 4}}));
  EXPECT_FALSE(Parsed("ab,bc->ad", {{2, 3}, {3, 4}}));
  EXPECT_FALSE(Parsed("ab,bc->ac", {{2, 1}, {3, 4}}));
  EXPECT_FALSE(Parsed("abc,bc->ac", {{2, 3}, {3, 4}}));
  EXPECT_FALSE(Parsed("ab->a", {{2, 3}, {3, 4}}));
}

TEST(Einsum, IsContractedInTheCheapestOrder) {
  // From the left: 100 * 2 * 100 + 100 * 100 * 2. From the right: 2 * 100 * 2 + 100 * 2 * 2.
  const Einsum chain = *Parsed("ab,bc,cd->ad", {{100, 2}, {2, 100}, {100, 2}});
  const std::vector<EinsumPair> pairs = CheapestPairs(chain);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].left, 1u);
  EXPECT_EQ(pairs[0].right, 2u);
  EXPECT_EQ(CheapestFlops(chain), 2 * (2 * 100 * 2) + 2 * (100 * 2 * 2));
}

TEST(Einsum, CountsNoElementwiseProductsAndNothingThatIsSummedBefore) {
  EXPECT_EQ(CheapestFlops(*Parsed("ab,ab,ab->ab", {{3, 5}, {3, 5}, {3, 5}})), 0);
  EXPECT_EQ(CheapestFlops(*Parsed("abc,bd->ad", {{2, 3, 50}, {3, 4}})), 2 * 2 * 3 * 4);
  const std::vector<Shape> six(6, Shape{2, 2});
  EXPECT_TRUE(CheapestPairs(*Parsed("ab,bc,cd,de,ef,fg->ag", six)).empty());
}

}  // namespace
}  // namespace hone::graph

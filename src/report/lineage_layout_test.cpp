#include "report/lineage_layout.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "base/ids.h"

namespace hone {
namespace {

std::string Drawn(const LineageLayout& layout) {
  std::string text;
  for (const LineagePlace& place : layout.places) text += fmt::format("{},{} ", place.column, place.row);
  for (const auto& [from, to] : layout.edges) text += fmt::format("{}>{} ", from, to);
  return text;
}

// Properties of every layout.
void CheckSound(const std::vector<LineageNode>& nodes, const LineageLayout& layout) {
  ASSERT_EQ(layout.places.size(), nodes.size());
  std::set<std::pair<size_t, size_t>> taken;
  for (const LineagePlace& place : layout.places) {
    EXPECT_TRUE(taken.insert({place.column, place.row}).second) << "two at one place";
    EXPECT_LT(place.column, layout.columns);
    EXPECT_LT(place.row, layout.rows);
  }
  for (const auto& [from, to] : layout.edges)
    if (from < to) {
      EXPECT_LT(layout.places[from].column, layout.places[to].column);
    }
  size_t rows = 0;
  for (const LineageLane& lane : layout.lanes) {
    EXPECT_EQ(lane.first_row, rows);
    rows += lane.rows;
  }
  EXPECT_EQ(rows, layout.rows);
  for (size_t i = 0; i < nodes.size(); ++i)
    for (const LineageLane& lane : layout.lanes)
      if (lane.name == nodes[i].lane) {
        EXPECT_GE(layout.places[i].row, lane.first_row);
        EXPECT_LT(layout.places[i].row, lane.first_row + lane.rows);
      }
}

// A search in which most nodes come from one or two earlier ones.
std::vector<LineageNode> Search(size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<LineageNode> nodes;
  for (size_t i = 0; i < count; ++i) {
    LineageNode node = {fmt::format("gen{}", i), {}, fmt::format("lane{}", random.Next() % 4)};
    for (uint64_t parents = i < 4 ? 0 : random.Next() % 3; parents > 0; --parents)
      node.parents.push_back(nodes[i - 1 - random.Next() % std::min<size_t>(i, 20)].key);
    nodes.push_back(node);
  }
  return nodes;
}

TEST(LineageLayout, NoTwoCandidatesShareAPlaceAndEveryEdgeIsThere) {
  for (const size_t count : {size_t{2}, size_t{30}, size_t{200}, size_t{500}})
    for (const size_t columns : {size_t{1}, size_t{16}, size_t{44}, size_t{1000}})
      for (uint64_t seed = 1; seed <= 5; ++seed) {
        const std::vector<LineageNode> nodes = Search(count, seed);
        const LineageLayout layout = LayOutLineage(nodes, columns);
        CheckSound(nodes, layout);
        std::set<std::pair<std::string, std::string>> wanted;
        for (const LineageNode& node : nodes)
          for (const std::string& parent : node.parents) wanted.insert({parent, node.key});
        std::set<std::pair<std::string, std::string>> drawn;
        for (const auto& [from, to] : layout.edges) drawn.insert({nodes[from].key, nodes[to].key});
        EXPECT_EQ(drawn, wanted);
        EXPECT_EQ(layout.edges.size(), wanted.size()) << "an edge is there twice";
        EXPECT_TRUE(layout.strays.empty());
      }
}

TEST(LineageLayout, TheSameRunGivesTheSameDrawing) {
  EXPECT_EQ(Drawn(LayOutLineage(Search(200, 3), 44)), Drawn(LayOutLineage(Search(200, 3), 44)));
  EXPECT_NE(Drawn(LayOutLineage(Search(200, 3), 44)), Drawn(LayOutLineage(Search(200, 4), 44)));
}

TEST(LineageLayout, ManyCandidatesStackUpInsteadOfGoingOnToTheRight) {
  const LineageLayout layout = LayOutLineage(Search(500, 1), 44);
  EXPECT_LE(layout.columns, 60u);
  EXPECT_LE(layout.rows, 60u);
}

TEST(LineageLayout, NoneAndOneAreDrawnToo) {
  EXPECT_EQ(LayOutLineage({}, 44).columns, 0u);
  EXPECT_EQ(LayOutLineage({}, 0).rows, 0u);
  const LineageLayout one = LayOutLineage({{"seed0", {}, "gemm"}}, 44);
  EXPECT_EQ(Drawn(one), "0,0 ");
  ASSERT_EQ(one.lanes.size(), 1u);
  EXPECT_EQ(one.lanes[0].name, "gemm");
}

TEST(LineageLayout, ParentsThatAreNotThereAndCirclesMakeNoEdgeToNowhere) {
  const std::vector<LineageNode> nodes = {{"a", {"from.R3.seed1"}, "x"},
                                          {"b", {"b", ""}, "x"},
                                          {"c", {"d"}, "x"},
                                          {"d", {"c", "c", "gone"}, "x"}};
  const LineageLayout layout = LayOutLineage(nodes, 44);
  CheckSound(nodes, layout);
  EXPECT_EQ(layout.strays, (std::vector<size_t>{0, 3}));
  EXPECT_EQ(layout.edges, (std::vector<std::pair<size_t, size_t>>{{3, 2}, {2, 3}}));
  EXPECT_EQ(AncestorMarks(layout, 3), (std::vector<bool>{false, false, true, true}));
}

TEST(LineageLayout, AChildThatStandsInItsParentsLaneStandsOnItsRow) {
  // Two chains in one lane do not cross.
  std::vector<LineageNode> nodes;
  for (int i = 0; i < 6; ++i)
    for (const char* chain : {"a", "b"}) {
      LineageNode node = {fmt::format("{}{}", chain, i), {}, "x"};
      if (i > 0) node.parents.push_back(fmt::format("{}{}", chain, i - 1));
      nodes.push_back(node);
    }
  const LineageLayout layout = LayOutLineage(nodes, 6);
  CheckSound(nodes, layout);
  for (size_t i = 2; i < nodes.size(); ++i) EXPECT_EQ(layout.places[i].row, layout.places[i - 2].row);
}

TEST(LineageLayout, FamiliesBeyondTheEighthShareALane) {
  std::vector<LineageNode> nodes;
  for (int i = 0; i < 20; ++i) nodes.push_back({fmt::format("k{}", i), {}, fmt::format("family{}", i)});
  const LineageLayout layout = LayOutLineage(nodes, 44);
  EXPECT_EQ(layout.lanes.size(), kMostLanes);
  EXPECT_EQ(layout.lanes.back().name, "other kinds");
  EXPECT_EQ(layout.rows, kMostLanes);
  CheckSound(nodes, layout);
}

TEST(LineageLayout, AncestorsAreFoundOverBothParents) {
  const LineageLayout layout = LayOutLineage(
      {{"a", {}, "x"}, {"b", {}, "x"}, {"c", {"a"}, "x"}, {"d", {"c", "b"}, "x"}, {"e", {"a"}, "x"}}, 44);
  EXPECT_EQ(AncestorMarks(layout, 3), (std::vector<bool>{true, true, true, true, false}));
}

}  // namespace
}  // namespace hone

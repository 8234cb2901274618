// Places the candidates of a run in the drawing of its lineage: columns from left to right in order of
// creation, rows inside lanes, one lane per family. Each place holds at most one candidate, a candidate is
// right of its parents, and the same input gives the same places. It is integer geometry;
// plots/lineage_plot.cpp draws it.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace hone {

struct LineageNode {
  std::string key;
  std::vector<std::string> parents;  // keys; empty ones and the node's own are ignored
  std::string lane;
};

struct LineagePlace {
  size_t column = 0;
  size_t row = 0;
};

struct LineageLane {
  std::string name;
  size_t first_row = 0;
  size_t rows = 0;
};

struct LineageLayout {
  std::vector<LineagePlace> places;              // one per node
  std::vector<LineageLane> lanes;                // from top to bottom, in order of first appearance
  std::vector<std::pair<size_t, size_t>> edges;  // from parent to child, by index, without duplicates
  std::vector<size_t> strays;                    // nodes with a parent outside of the list
  size_t columns = 0;
  size_t rows = 0;
};

// With more families, the rest share the last lane.
constexpr size_t kMostLanes = 8;

// `nodes` are in order of creation. Uses about `columns` columns, or more for a longer chain.
LineageLayout LayOutLineage(const std::vector<LineageNode>& nodes, size_t columns);

// Marks `from` and all its ancestors.
std::vector<bool> AncestorMarks(const LineageLayout& layout, size_t from);

}  // namespace hone

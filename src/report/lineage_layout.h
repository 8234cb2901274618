// Where each candidate of a run stands in the drawing of its lineage: columns from left to right in the order
// they were made, rows inside lanes, one lane per family. A place is taken by one candidate at most, a
// candidate stands right of what it was made from, and the same input gives the same places. Pure geometry in
// whole numbers; plots/lineage_plot.cpp draws it.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace hone {

struct LineageNode {
  std::string key;
  std::vector<std::string> parents;  // keys; empty ones and the node's own are passed over
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
  std::vector<std::pair<size_t, size_t>> edges;  // from parent to child, by index, no edge twice
  std::vector<size_t> strays;                    // nodes with a parent that is not among the nodes
  size_t columns = 0;
  size_t rows = 0;
};

// More families than this share the last lane.
constexpr size_t kMostLanes = 8;

// `nodes` in the order they were made. About `columns` columns; more where a chain is longer than that.
LineageLayout LayOutLineage(const std::vector<LineageNode>& nodes, size_t columns);

// `from` and everything it was made from, as marks on the nodes.
std::vector<bool> AncestorMarks(const LineageLayout& layout, size_t from);

}  // namespace hone

#include "report/lineage_layout.h"

#include <algorithm>
#include <map>
#include <set>

namespace hone {

namespace {

void FindEdges(const std::vector<LineageNode>& nodes, LineageLayout* layout) {
  std::map<std::string, size_t> index;
  for (size_t i = 0; i < nodes.size(); ++i) index.emplace(nodes[i].key, i);
  for (size_t i = 0; i < nodes.size(); ++i) {
    std::set<std::string> seen = {"", nodes[i].key};
    bool stray = false;
    for (const std::string& parent : nodes[i].parents) {
      if (!seen.insert(parent).second) continue;
      const auto found = index.find(parent);
      if (found != index.end())
        layout->edges.emplace_back(found->second, i);
      else
        stray = true;
    }
    if (stray) layout->strays.push_back(i);
  }
}

// Finds the lane of each node.
std::vector<size_t> FindLanes(const std::vector<LineageNode>& nodes, LineageLayout* layout) {
  std::map<std::string, size_t> known;
  std::vector<size_t> lane_of;
  for (const LineageNode& node : nodes) {
    auto found = known.find(node.lane);
    if (found == known.end()) {
      const size_t lane = std::min(known.size(), kMostLanes - 1);
      if (lane == layout->lanes.size()) layout->lanes.push_back({node.lane, 0, 0});
      found = known.emplace(node.lane, lane).first;
    }
    lane_of.push_back(found->second);
  }
  if (known.size() > kMostLanes) layout->lanes.back().name = "other kinds";
  return lane_of;
}

void SetColumns(size_t wanted, LineageLayout* layout) {
  const size_t count = layout->places.size();
  size_t edge = 0;  // edges are sorted by their children
  for (size_t i = 0; i < count; ++i) {
    size_t column = count <= wanted ? i : i * wanted / count;
    // A parent later in the list would be a cycle, which only a store edited by hand could contain.
    for (; edge < layout->edges.size() && layout->edges[edge].second == i; ++edge)
      if (const size_t parent = layout->edges[edge].first; parent < i)
        column = std::max(column, layout->places[parent].column + 1);
    layout->places[i].column = column;
    layout->columns = std::max(layout->columns, column + 1);
  }
}

// Puts each node into the free row of its cell that is nearest to its parent's row, so that most edges are
// level.
void SetRows(const std::vector<size_t>& lane_of, LineageLayout* layout) {
  std::map<std::pair<size_t, size_t>, size_t> in_cell;
  for (size_t i = 0; i < lane_of.size(); ++i) {
    const size_t stacked = ++in_cell[{lane_of[i], layout->places[i].column}];
    LineageLane& lane = layout->lanes[lane_of[i]];
    lane.rows = std::max(lane.rows, stacked);
  }
  for (LineageLane& lane : layout->lanes) {
    lane.first_row = layout->rows;
    layout->rows += lane.rows;
  }
  std::set<std::pair<size_t, size_t>> taken;  // column, row
  size_t edge = 0;
  for (size_t i = 0; i < lane_of.size(); ++i) {
    const LineageLane& lane = layout->lanes[lane_of[i]];
    LineagePlace& place = layout->places[i];
    size_t level = lane.first_row;
    for (bool set = false; edge < layout->edges.size() && layout->edges[edge].second == i; ++edge)
      if (const size_t parent = layout->edges[edge].first; parent < i && !set) {
        level = std::clamp(layout->places[parent].row, lane.first_row, lane.first_row + lane.rows - 1);
        set = true;
      }
    for (size_t away = 0; away < lane.rows; ++away) {
      const size_t below = level + away;
      if (below < lane.first_row + lane.rows && taken.insert({place.column, below}).second) {
        place.row = below;
        break;
      }
      if (level >= lane.first_row + away && taken.insert({place.column, level - away}).second) {
        place.row = level - away;
        break;
      }
    }
  }
}

}  // namespace

LineageLayout LayOutLineage(const std::vector<LineageNode>& nodes, size_t columns) {
  LineageLayout layout;
  layout.places.resize(nodes.size());
  FindEdges(nodes, &layout);
  const std::vector<size_t> lane_of = FindLanes(nodes, &layout);
  SetColumns(std::max<size_t>(columns, 1), &layout);
  SetRows(lane_of, &layout);
  return layout;
}

std::vector<bool> AncestorMarks(const LineageLayout& layout, size_t from) {
  std::vector<bool> marks(layout.places.size());
  std::vector<size_t> open = {from};
  std::map<size_t, std::vector<size_t>> parents;
  for (const auto& [parent, child] : layout.edges) parents[child].push_back(parent);
  while (!open.empty()) {
    const size_t one = open.back();
    open.pop_back();
    if (one >= marks.size() || marks[one]) continue;
    marks[one] = true;
    for (const size_t parent : parents[one]) open.push_back(parent);
  }
  return marks;
}

}  // namespace hone

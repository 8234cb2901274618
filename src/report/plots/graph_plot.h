// Draws a task's graph: one box per node, inputs at the top, one row per step of the longest path. Weights
// are shown in the boxes that read them and have no boxes of their own.
#pragma once

#include "graph/graph.h"
#include "report/svg.h"

namespace hone {

Svg DrawGraph(const graph::Graph& graph, const std::string& title);

}  // namespace hone

// A task's graph as a drawing: one box per node, inputs at the top, one row per step of the longest path.
// Weights are written into the boxes that read them and have no boxes of their own.
#pragma once

#include "graph/graph.h"
#include "report/svg.h"

namespace hone {

Svg DrawGraph(const graph::Graph& graph, const std::string& title);

}  // namespace hone

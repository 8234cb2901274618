// Prints a graph for users, one node per line:
//   %5 float32[128, 10] = aten.linear.default(input=%0, weight=%1, bias=%2)  # fc
#pragma once

#include <string>

#include "graph/graph.h"

namespace hone::graph {

std::string ToText(const Graph& graph);
// One line for one node, without a line break.
std::string NodeText(const Graph& graph, NodeId node);
std::string ToText(const ArgumentValue& value);

}  // namespace hone::graph

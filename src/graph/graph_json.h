// A graph as JSON, as the worker sends it and tests store it. worker/hone_graph.py writes and reads the same
// format. docs/GRAPH.md describes it.
#pragma once

#include "base/json_fwd.h"
#include "graph/graph.h"

namespace hone::graph {

// Parses a graph that passes Verify. The Error names the missing or wrong part.
Result<Graph> GraphFromJson(const Json& json);
Json ToJson(const Graph& graph);

}  // namespace hone::graph

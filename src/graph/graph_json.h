// A graph as JSON: how the worker sends it and how tests keep it. worker/hone_graph.py writes and reads the
// same format; docs/GRAPH.md describes it.
#pragma once

#include "base/json_fwd.h"
#include "graph/graph.h"

namespace hone::graph {

// An Error names what is missing or wrong. The graph that comes back passes Verify.
Result<Graph> GraphFromJson(const Json& json);
Json ToJson(const Graph& graph);

}  // namespace hone::graph

// FLOPs and bytes of a graph, by formula: a multiplication and an addition count as two. Only products,
// convolutions, attention and recurrent layers count, as on the card; elementwise work is bound by memory.
#pragma once

#include "graph/graph.h"

namespace hone::graph {

double FlopsOf(const Graph& graph, const Node& node);
// Nodes that run in every call; those that depend on weights alone do not.
int NodesPerCall(const Graph& graph);
// Of all nodes that run in every call.
double FlopsPerCall(const Graph& graph);

// FLOPs of products of two matrices that multiply zeros of a triangular one: made by tril or triu in forward,
// or an input that was triangular in every draw.
double SkippableFlops(const Graph& graph);
// What one call must at least move through memory if every intermediate result stays on the chip: what it
// reads of inputs and of values that depend on weights alone, each byte once, and its outputs.
double BytesPerCall(const Graph& graph);

}  // namespace hone::graph

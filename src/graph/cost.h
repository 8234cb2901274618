// FLOPs and bytes of a graph, computed by formulas. A multiplication and an addition count as two. Only
// products, convolutions, attention and recurrent layers count, as on the card; elementwise work is bound by
// memory.
#pragma once

#include "graph/graph.h"

namespace hone::graph {

double FlopsOf(const Graph& graph, const Node& node);
// Number of nodes that run in every call. Nodes that depend on weights alone do not.
int NodesPerCall(const Graph& graph);
// FLOPs of all nodes that run in every call.
double FlopsPerCall(const Graph& graph);
// The FLOPs among them that cuDNN computes on a GPU: convolutions and recurrent layers.
double CudnnFlopsPerCall(const Graph& graph);

// FLOPs of matrix products that multiply zeros of a triangular matrix. The matrix comes from tril or triu in
// forward, or is an input that was triangular in every draw.
double SkippableFlops(const Graph& graph);
// The least bytes that one call must move through memory if every intermediate result stays on the chip: each
// byte of its inputs and of values that depend on weights alone, read once, and its outputs.
double BytesPerCall(const Graph& graph);

}  // namespace hone::graph

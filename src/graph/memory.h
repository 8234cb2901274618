// Which values share memory in PyTorch. A caller may write into an output, so an output may be the memory of
// an input, a weight or another output only where it is in the module as it is written. Rewrites do not keep
// that: x + 0 is a new tensor in PyTorch, and x itself after drop_no_ops.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"

namespace hone::graph {

// The argument whose memory the results of a node use: the operand of a view, of `contiguous` where it copies
// nothing, of dropout in eval mode. No value if the results are new tensors, or if the operator is unknown.
std::optional<ValueId> SharedOperand(const Graph& graph, const Node& node);

// The value behind all views: an input, a weight, a constant, or the result that was made as a new tensor.
ValueId MemoryOf(const Graph& graph, ValueId id);

// MemoryOf for each leaf of the outputs, in order.
std::vector<ValueId> MemoryOfOutputs(const Graph& graph);

// Whether a tensor that exists before the call has this memory: an input, a weight, or a constant that the
// module holds. Forward makes a constant without a name anew in every call.
bool OutlivesCall(const Graph& graph, ValueId id);

}  // namespace hone::graph

// Computes which elements of a value reach an output. The graph shows that a layer reads a tensor; the demand
// shows that only its first row is needed, because all later nodes select that row. Demands are boxes: for
// each axis a range of indices, all of them or every step-th. They propagate from the outputs to the inputs
// and are never too small: an operator that is unknown here needs its operands whole.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace hone::graph {

struct IndexRange {
  int64_t from = 0;
  int64_t to = 0;    // one past the last index
  int64_t step = 1;  // 1 for every index, n for every n-th
  friend bool operator==(const IndexRange&, const IndexRange&) = default;
};
using Box = std::vector<IndexRange>;  // one range per axis; empty for a scalar

// For each value, by id: the elements that an output depends on. No box if there are none.
std::vector<std::optional<Box>> DemandedElements(const Graph& graph);

// For each value, by id: the elements that operators read, even if no output depends on the results. An
// operator reads its operands whole. Views that work with any strides (select, slice, transpose) pass on what
// their readers read. A view without readers counts as read unless it is `ignored`.
std::vector<std::optional<Box>> ReadElements(const Graph& graph,
                                             const std::function<bool(const Node&)>& ignored);

// Whether an output depends on an element of an input or on a random draw.
bool ReadsAnyInput(const Graph& graph);

}  // namespace hone::graph

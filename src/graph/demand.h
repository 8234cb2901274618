// Which elements of a value reach an output. A graph says that a layer reads a tensor; the demand says that
// only its first row is needed, because all that follows selects that row. Demands are boxes: a range of
// indices for each axis, every one of them or every step-th. They go from the outputs back to the inputs and
// are never too small: an operator that is not known here needs its operands whole.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace hone::graph {

struct IndexRange {
  int64_t from = 0;
  int64_t to = 0;    // one past the last
  int64_t step = 1;  // every element, or the first of each `step`
  friend bool operator==(const IndexRange&, const IndexRange&) = default;
};
using Box = std::vector<IndexRange>;  // one range per axis; a scalar has none

// For each value, by id: the elements that an output depends on; nothing if there are none.
std::vector<std::optional<Box>> DemandedElements(const Graph& graph);

// For each value, by id: the elements that operators read, whether or not an output depends on what they
// compute. An operator reads its operands whole. Views that work with any strides (select, slice, transpose)
// pass on what is read of their results; a view that nobody reads counts as read unless it is `ignored`.
std::vector<std::optional<Box>> ReadElements(const Graph& graph,
                                             const std::function<bool(const Node&)>& ignored);

// Whether an output depends on an element of an input or on a random draw.
bool ReadsAnyInput(const Graph& graph);

}  // namespace hone::graph

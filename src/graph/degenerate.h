// Detects degenerate tasks: no output depends on an input, so every call returns the same. Some benchmark
// tasks are degenerate by mistake: they subtract a mean over an axis of length 1, or normalise and then take
// the mean. A speed-up on such a task says nothing about kernels.
#pragma once

#include <string>

#include "graph/rewrites/rewrite.h"

namespace hone::graph {

struct Degeneracy {
  bool found = false;
  bool as_built = false;  // only with the initial weights, such as a norm's ones and zeros
  // The rewrite that removed the last path from an input to an output. Empty if forward has no such path.
  std::string rule;
  std::string why;  // one sentence; empty if not found
};

// Rewrites a copy of the graph and checks whether an output reads an element of an input or of a random draw.
Result<Degeneracy> FindDegeneracy(Graph graph);

// Explains in one sentence why the graph is degenerate after these rewrites.
Degeneracy ExplainDegenerate(const std::vector<AppliedRewrite>& applied);

}  // namespace hone::graph

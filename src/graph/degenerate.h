// Whether a task is degenerate: no output depends on an input, so every call returns the same. Some benchmark
// tasks are, by mistake: they subtract a mean over an axis of length 1, or normalise and then take the mean.
// A speed-up on such a task says nothing about kernels.
#pragma once

#include <string>

#include "graph/rewrites/rewrite.h"

namespace hone::graph {

struct Degeneracy {
  bool found = false;
  bool as_built =
      false;  // only with the weights that the module is built with, such as a norm's ones and zeros
  // The rewrite that removed the last path from an input to an output. Empty: forward has no such path.
  std::string rule;
  std::string why;  // one sentence; empty if not found
};

// Rewrites a copy of the graph and looks for elements of an input, or of a random draw, that an output reads.
Result<Degeneracy> FindDegeneracy(Graph graph);

// The sentence for a graph that is degenerate after these rewrites.
Degeneracy ExplainDegenerate(const std::vector<AppliedRewrite>& applied);

}  // namespace hone::graph

// Einsums by their letters, and the cheapest order in which pairs of operands can be contracted. PyTorch
// contracts from left to right, or in the order that opt_einsum finds if it is installed.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace hone::graph {

inline bool HasLetter(const std::string& letters, char letter) {
  return letters.find(letter) != std::string::npos;
}

struct Einsum {
  std::vector<std::string> operands;  // the letters of each operand's axes
  std::string out;
  std::map<char, int64_t> sizes;

  double Size(const std::string& letters) const;
};

// No value for an ellipsis, a letter twice in one operand, or sizes that broadcast.
std::optional<Einsum> EinsumOf(const Graph& graph, const Node& node);

// The letters of `of` that the result or another operand than `of` and `with` needs.
std::string NeededLetters(const Einsum& einsum, size_t of, size_t with);

struct EinsumPair {
  size_t left = 0, right = 0;  // operands; the result is appended after both are removed
};
// The order with the fewest multiplications; empty if there are too many operands to try all.
std::vector<EinsumPair> CheapestPairs(const Einsum& einsum);
// The einsum with two operands replaced by their contraction, whose axes have these letters.
Einsum Contracted(const Einsum& einsum, EinsumPair pair, const std::string& letters);

// FLOPs of the products in the cheapest order. Elementwise products do not count.
double CheapestFlops(const Einsum& einsum);

}  // namespace hone::graph

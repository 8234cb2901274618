// Helpers for tests of graphs.
#pragma once

#include <utility>

#include "graph/graph.h"

namespace hone::graph {

inline TensorType F32(Shape shape) {
  return ContiguousType(DType::kFloat32, std::move(shape));
}

// An output that is a single tensor.
inline ValueTree Leaf(ValueId id) {
  ValueTree tree;
  tree.kind = ValueTree::Kind::kValue;
  tree.value = id;
  return tree;
}

}  // namespace hone::graph

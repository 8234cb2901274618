// Normalised values have mean 0, so the mean of a norm's result over whole groups is the mean of its bias.
// The weight must be the same for all elements of a group: absent, one number, or an instance norm's (each
// channel is its own group). A sum is the mean times the number of elements.
#include <algorithm>

#include "graph/rewrites/builder.h"
#include "graph/rewrites/rewrite.h"

namespace hone::graph {

namespace {

bool IsOneNumber(const Graph& graph, const Node& norm) {
  const std::optional<ValueId> weight = norm.ValueArg("weight");
  if (!weight) return true;
  const Node* made = graph.Definition(*weight);
  return made != nullptr && (made->op == Op::kFull || made->op == Op::kOnes || made->op == Op::kOnesLike);
}

// The axes that one group covers.
std::optional<std::vector<int64_t>> GroupAxes(const Graph& graph, const Node& norm, int64_t rank) {
  int64_t first = rank;
  if (norm.op == Op::kLayerNorm && IsOneNumber(graph, norm)) {
    const auto normalized = norm.IntsArg("normalized_shape");
    if (!normalized) return std::nullopt;
    first = rank - static_cast<int64_t>(normalized->size());
  } else if (norm.op == Op::kGroupNorm && IsOneNumber(graph, norm)) {
    first = 1;
  } else if (norm.op == Op::kInstanceNorm && norm.BoolArg("use_input_stats") == true) {
    first = 2;
  }
  if (first >= rank || first < 0) return std::nullopt;
  std::vector<int64_t> axes;
  for (int64_t axis = first; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

}  // namespace

int MeanOfNorm(Graph& graph) {
  return ForEachNode(graph, [&](NodeId id, const Node& node) {
    if ((node.op != Op::kMean && node.op != Op::kSum) || node.results.size() != 1) return false;
    const std::optional<ValueId> self = Operand(node);
    const Node* found = self ? graph.Definition(*self) : nullptr;
    const TensorType type = graph.type(node.result());
    if (found == nullptr || graph.type(*self).dtype != type.dtype || !IsFloating(type.dtype)) return false;
    const Node norm = *found;
    const Shape shape = graph.type(*self).shape;
    const auto group = GroupAxes(graph, norm, graph.type(*self).rank());
    const auto axes = ReducedAxes(graph, node);
    if (!group || !axes || ElementsOf(shape) == 0 ||
        !std::includes(axes->begin(), axes->end(), group->begin(), group->end()))
      return false;
    double count = 1;
    for (const int64_t axis : *axes) count *= static_cast<double>(shape[static_cast<size_t>(axis)]);
    Builder build(graph, id);
    const std::optional<ValueId> bias = norm.ValueArg("bias");
    if (!bias) {
      graph.ReplaceUses(node.result(), build.Full(*self, type.shape, 0, type.dtype));
      return true;
    }
    ValueId mean = *bias;
    const bool channels_stay =
        norm.op == Op::kInstanceNorm && !std::binary_search(axes->begin(), axes->end(), 1);
    if (channels_stay) {  // [C] becomes [.., C, 1, ..]: the channels' axis in the result
      Shape aligned(type.shape.size(), 1);
      const bool batch_stays =
          type.shape.size() == shape.size() || !std::binary_search(axes->begin(), axes->end(), 0);
      aligned[batch_stays ? 1 : 0] = shape[1];
      mean = build.Reshape(mean, aligned);
    } else {
      std::vector<int64_t> all;
      for (int64_t axis = 0; axis < graph.type(mean).rank(); ++axis) all.push_back(axis);
      mean = build.Mean(mean, all, false);
    }
    if (node.op == Op::kSum) mean = build.Mul(mean, count);
    graph.ReplaceUses(node.result(), build.Expand(mean, type.shape));
    return true;
  });
}

}  // namespace hone::graph

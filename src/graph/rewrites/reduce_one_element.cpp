// A reduction over axes of length 1 reads one element: sum, mean, max and the like become a reshape, and an
// index becomes 0. Softmax over one element is 1, its logarithm 0, and a scan of one element is the element.
#include <algorithm>

#include "graph/rewrites/builder.h"
#include "graph/rewrites/rewrite.h"

namespace hone::graph {

namespace {

bool AllOfLengthOne(const Graph& graph, const Node& node) {
  const auto axes = ReducedAxes(graph, node);
  const Shape& shape = graph.type(*Operand(node)).shape;
  return axes && !axes->empty() && std::all_of(axes->begin(), axes->end(), [&](int64_t axis) {
           return shape[static_cast<size_t>(axis)] == 1;
         });
}

bool ReadsTheElement(Op op) {
  switch (op) {
    case Op::kSum:
    case Op::kMean:
    case Op::kProd:
    case Op::kMax:
    case Op::kMin:
    case Op::kAmax:
    case Op::kAmin:
    case Op::kLogsumexp:
    case Op::kCumsum:
    case Op::kCumprod:
      return true;
    default:
      return false;
  }
}

}  // namespace

int ReduceOneElement(Graph& graph) {
  return ForEachNode(graph, [&](NodeId id, const Node& node) {
    if (!Operand(node) || node.ValueArg("other")) return false;
    const bool index = node.op == Op::kArgmax || node.op == Op::kArgmin;
    const bool softmax = node.op == Op::kSoftmax || node.op == Op::kLogSoftmax;
    if (!index && !softmax && !ReadsTheElement(node.op)) return false;
    if (!AllOfLengthOne(graph, node)) return false;
    const ValueId self = *Operand(node);
    const TensorType type = graph.type(node.result());
    Builder build(graph, id);
    if (index || softmax) {
      const double value = node.op == Op::kSoftmax ? 1 : 0;
      graph.ReplaceUses(node.result(), build.Full(self, type.shape, value, type.dtype));
      return true;
    }
    graph.ReplaceUses(node.result(), build.Reshape(build.ToDtype(self, type.dtype), type.shape));
    if (node.results.size() == 2) {  // max and min along an axis also return the index
      const TensorType indices = graph.type(node.results[1]);
      if (!graph.Users(node.results[1]).empty() || graph.IsOutput(node.results[1]))
        graph.ReplaceUses(node.results[1], build.Full(self, indices.shape, 0, indices.dtype));
    }
    return true;
  });
}

}  // namespace hone::graph

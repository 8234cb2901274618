// Replaces x - x by 0, which is right for finite x.
#include "graph/rewrites/builder.h"
#include "graph/rewrites/rewrite.h"

namespace hone::graph {

int CancelSelf(Graph& graph) {
  return ForEachNode(graph, [&](NodeId id, const Node& node) {
    const std::optional<ValueId> self = node.ValueArg("self");
    if (node.op != Op::kSub || !self || node.ValueArg("other") != self || node.NumberArg("alpha") != 1.0)
      return false;
    const TensorType type = graph.type(node.result());
    graph.ReplaceUses(node.result(), Builder(graph, id).Full(*self, type.shape, 0, type.dtype));
    return true;
  });
}

}  // namespace hone::graph

// diag(a) @ B scales the rows of B, and B @ diag(a) scales its columns, without a product or a matrix of
// zeros.
#include "graph/rewrites/builder.h"
#include "graph/rewrites/rewrite.h"

namespace hone::graph {

namespace {

// The vector on the diagonal, if the value is a diagonal matrix.
std::optional<ValueId> DiagonalOf(const Graph& graph, ValueId id) {
  const Node* node = graph.Definition(id);
  if (node == nullptr || node->op != Op::kDiag || graph.type(id).rank() != 2) return std::nullopt;
  const std::optional<ValueId> vector = node->ValueArg("self");
  const int64_t offset = node->IntArg("diagonal").value_or(node->IntArg("offset").value_or(0));
  if (!vector || graph.type(*vector).rank() != 1 || offset != 0) return std::nullopt;
  return vector;
}

}  // namespace

int ScaleByDiagonal(Graph& graph) {
  return ForEachNode(graph, [&](NodeId id, const Node& node) {
    if (node.op != Op::kMatmul && node.op != Op::kMm) return false;
    const std::optional<ValueId> left = node.ValueArg("self");
    const std::optional<ValueId> right = node.op == Op::kMm ? node.ValueArg("mat2") : node.ValueArg("other");
    if (!left || !right || graph.type(*left).rank() != 2 || graph.type(*right).rank() != 2) return false;
    Builder build(graph, id);
    if (const std::optional<ValueId> rows = DiagonalOf(graph, *left)) {
      const ValueId column = build.Reshape(*rows, {graph.type(*rows).shape[0], 1});
      graph.ReplaceUses(node.result(), build.Mul(*right, column));
      return true;
    }
    if (const std::optional<ValueId> columns = DiagonalOf(graph, *right)) {
      graph.ReplaceUses(node.result(), build.Mul(*left, *columns));
      return true;
    }
    return false;
  });
}

}  // namespace hone::graph

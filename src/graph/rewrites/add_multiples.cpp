// Merges multiples of one tensor: a * x + b * x becomes (a + b) * x, and x + x becomes 2 * x.
#include <cmath>

#include "graph/rewrites/builder.h"
#include "graph/rewrites/rewrite.h"

namespace hone::graph {

namespace {

struct Multiple {
  ValueId base{-1};
  double factor = 1;
};

// Expresses the value as a number times a tensor. A product with other readers counts as a separate tensor.
Multiple MultipleOf(const Graph& graph, ValueId id) {
  const Node* node = OnlyDefinition(graph, id);
  if (node == nullptr || node->op != Op::kMul) return {id, 1};
  const std::optional<ValueId> self = node->ValueArg("self");
  const std::optional<double> number = node->NumberArg("other");
  if (!self || !number || graph.type(*self) != graph.type(id)) return {id, 1};
  return {*self, *number};
}

}  // namespace

int AddMultiples(Graph& graph) {
  return ForEachNode(graph, [&](NodeId id, const Node& node) {
    if (node.op != Op::kAdd && node.op != Op::kSub) return false;
    const std::optional<ValueId> self = node.ValueArg("self");
    const std::optional<ValueId> other = node.ValueArg("other");
    if (!self || !other || !IsFloating(graph.type(node.result()).dtype)) return false;
    const Multiple a = MultipleOf(graph, *self);
    const Multiple b = MultipleOf(graph, *other);
    const double alpha = node.NumberArg("alpha").value_or(1) * (node.op == Op::kSub ? -1 : 1);
    const double factor = a.factor + alpha * b.factor;
    if (a.base != b.base || graph.type(a.base) != graph.type(node.result())) return false;
    if (!std::isfinite(factor) || factor == 0) return false;  // cancel_self handles 0
    graph.ReplaceUses(node.result(), Builder(graph, id).Mul(a.base, factor));
    return true;
  });
}

}  // namespace hone::graph

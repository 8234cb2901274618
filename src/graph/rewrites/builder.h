// Builds the replacement of a rewrite: one method per operator, which knows the arguments and the result's
// type. All nodes go before one node and belong to its module.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace hone::graph {

class Builder {
 public:
  Builder(Graph& graph, NodeId before);

  const TensorType& type(ValueId id) const { return graph_.type(id); }

  // Elementwise; both have the same dtype, or the second is a number.
  ValueId Add(ValueId a, ArgumentValue b);
  ValueId Sub(ValueId a, ArgumentValue b);
  ValueId Mul(ValueId a, ArgumentValue b);
  ValueId Rsqrt(ValueId a);
  ValueId Neg(ValueId a);
  ValueId ToDtype(ValueId a, DType dtype);
  // Views.
  ValueId Reshape(ValueId a, const Shape& shape);
  ValueId Permute(ValueId a, const std::vector<int64_t>& order);
  ValueId Expand(ValueId a, const Shape& shape);
  // Reductions; `axes` are counted from 0.
  ValueId Sum(ValueId a, const std::vector<int64_t>& axes, bool keep);
  ValueId Mean(ValueId a, const std::vector<int64_t>& axes, bool keep);
  // A tensor of equal elements, on the device of `like`. An input or a weight stands in for `like` where
  // there is one, so that the replacement does not keep alive what it replaces.
  ValueId Full(ValueId like, const Shape& shape, double value, DType dtype);
  // Products. `bias` may be absent.
  ValueId Linear(ValueId input, ValueId weight, std::optional<ValueId> bias);
  ValueId Matmul(ValueId a, ValueId b, const Shape& shape);

  ValueId Insert(std::string target, std::vector<Argument> arguments, TensorType type);

 private:
  ValueId Elementwise(const char* target, ValueId a, ArgumentValue b, bool has_alpha);
  ValueId Reduce(const char* target, ValueId a, const std::vector<int64_t>& axes, bool keep);

  Graph& graph_;
  NodeId before_;
  std::string module_;
};

// Calls `visit(id, node)` for each node as the graph is now, except those that nobody reads. Returns how
// often `visit` said true.
template <class Visit>
int ForEachNode(Graph& graph, Visit visit) {
  int times = 0;
  // Copies, because nodes that are added move both tables.
  const std::vector<NodeId> nodes(graph.order().begin(), graph.order().end());
  for (const NodeId id : nodes) {
    Node node;
    node = graph.node(id);
    bool read = false;
    for (const ValueId result : node.results)
      read = read || !graph.Users(result).empty() || graph.IsOutput(result);
    if (read && visit(id, node)) ++times;
  }
  return times;
}

// The axes that a reduction goes over, counted from 0; all of them if it names none. Nothing for a reduction
// whose axes are not plain.
std::optional<std::vector<int64_t>> ReducedAxes(const Graph& graph, const Node& node);
// The tensor that a node works on: its argument `self` or `input`.
std::optional<ValueId> Operand(const Node& node);
// float32 and float64. Weights of fewer bits are not folded: rounding them again would cost accuracy.
bool CanFoldWeights(DType dtype);
// A node that nobody else reads and that computes `id`, or null.
const Node* OnlyDefinition(const Graph& graph, ValueId id);

}  // namespace hone::graph

// Builds the replacement of a rewrite. One method per operator sets its arguments and the type of its result.
// All nodes are inserted before one node and belong to its module.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace hone::graph {

class Builder {
 public:
  Builder(Graph& graph, NodeId before);

  const TensorType& type(ValueId id) const { return graph_.type(id); }

  // Elementwise operators. Both operands have the same dtype, or the second is a number.
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
  // Reductions. `axes` count from 0.
  ValueId Sum(ValueId a, const std::vector<int64_t>& axes, bool keep);
  ValueId Mean(ValueId a, const std::vector<int64_t>& axes, bool keep);
  // A tensor of equal elements on the device of `like`. Reads an input or a weight instead of `like` if there
  // is one, so that the replacement does not keep alive the nodes it replaces.
  ValueId Full(ValueId like, const Shape& shape, double value, DType dtype);
  // Products. `bias` is optional.
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

// Calls `visit(id, node)` for each node that the graph has at the start and that has readers. Returns how
// often `visit` returned true.
template <class Visit>
int ForEachNode(Graph& graph, Visit visit) {
  int times = 0;
  // These are copies, because adding nodes moves both tables.
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

// The axes that a reduction covers, counted from 0; all axes if it names none. No value if its axes are no
// plain numbers.
std::optional<std::vector<int64_t>> ReducedAxes(const Graph& graph, const Node& node);
// The tensor that a node works on, its argument `self` or `input`.
std::optional<ValueId> Operand(const Node& node);
// True for float32 and float64. Weights in narrower types are not folded: rounding them again would cost
// accuracy.
bool CanFoldWeights(DType dtype);
// The node that computes `id`, if it has no other reader, else null.
const Node* OnlyDefinition(const Graph& graph, ValueId id);

}  // namespace hone::graph

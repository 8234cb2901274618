// Merges a view of a view: two reshapes become one, two permutations become one, and two equal transpositions
// cancel.
#include "graph/rewrites/builder.h"
#include "graph/rewrites/rewrite.h"

namespace hone::graph {

namespace {

bool IsReshape(Op op) {
  return op == Op::kView || op == Op::kReshape || op == Op::kFlatten || op == Op::kUnflatten ||
         op == Op::kSqueeze || op == Op::kUnsqueeze;
}

// The permutation that a node applies, counted from 0.
std::optional<std::vector<int64_t>> PermutationOf(const Graph& graph, const Node& node) {
  const std::optional<ValueId> operand = Operand(node);
  if (!operand) return std::nullopt;
  const int64_t rank = graph.type(*operand).rank();
  std::vector<int64_t> order(static_cast<size_t>(rank));
  for (int64_t i = 0; i < rank; ++i) order[static_cast<size_t>(i)] = i;
  if (node.op == Op::kPermute) {
    const auto dims = node.IntsArg("dims");
    if (!dims || dims->size() != order.size()) return std::nullopt;
    for (size_t i = 0; i < order.size(); ++i) {
      const std::optional<int64_t> axis = NormalizeAxis((*dims)[i], rank);
      if (!axis) return std::nullopt;
      order[i] = *axis;
    }
    return order;
  }
  if (node.op == Op::kTranspose) {
    const auto first = node.IntArg("dim0");
    const auto second = node.IntArg("dim1");
    if (!first || !second || rank == 0) return std::nullopt;
    const auto a = NormalizeAxis(*first, rank);
    const auto b = NormalizeAxis(*second, rank);
    if (!a || !b) return std::nullopt;
    std::swap(order[static_cast<size_t>(*a)], order[static_cast<size_t>(*b)]);
    return order;
  }
  if (node.op == Op::kT || node.op == Op::kNumpyT) {
    if (node.op == Op::kT && rank > 2) return std::nullopt;
    return std::vector<int64_t>(order.rbegin(), order.rend());
  }
  return std::nullopt;
}

bool MergeReshapes(Graph& graph, NodeId id, const Node& node) {
  if (!IsReshape(node.op)) return false;
  const Node* inner = graph.Definition(*Operand(node));
  if (inner == nullptr || !IsReshape(inner->op)) return false;
  const ValueId source = *Operand(*inner);
  const TensorType& result = graph.type(node.result());
  // One reshape gives the same strides as two only between contiguous tensors.
  if (!graph.type(source).is_contiguous() || !result.is_contiguous()) return false;
  Builder build(graph, id);
  const Shape shape = result.shape;
  graph.ReplaceUses(node.result(), build.Reshape(source, shape));
  return true;
}

bool MergePermutations(Graph& graph, NodeId id, const Node& node) {
  const auto outer = PermutationOf(graph, node);
  if (!outer) return false;
  const Node* inner_node = graph.Definition(*Operand(node));
  if (inner_node == nullptr) return false;
  const auto inner = PermutationOf(graph, *inner_node);
  if (!inner || inner->size() != outer->size()) return false;
  const ValueId source = *Operand(*inner_node);
  std::vector<int64_t> both;
  bool identity = true;
  for (size_t i = 0; i < outer->size(); ++i) {
    both.push_back((*inner)[static_cast<size_t>((*outer)[i])]);
    identity = identity && both.back() == static_cast<int64_t>(i);
  }
  if (identity) {
    graph.ReplaceUses(node.result(), source);
    return true;
  }
  Builder build(graph, id);
  const TensorType type = graph.type(node.result());
  graph.ReplaceUses(node.result(),
                    build.Insert("aten.permute.default", {{"self", source}, {"dims", both}}, type));
  return true;
}

}  // namespace

int MergeViews(Graph& graph) {
  return ForEachNode(graph, [&](NodeId id, const Node& node) {
    if (ClassOf(node.op) != OpClass::kView || node.results.size() != 1 || !Operand(node)) return false;
    return MergeReshapes(graph, id, node) || MergePermutations(graph, id, node);
  });
}

}  // namespace hone::graph

// Removes nodes that return their argument: dropout in eval mode, casts to the same dtype, copies, views
// without effect, and arithmetic with 0 or 1. Removes a node only if dtype, shape and strides stay the same.
#include <algorithm>

#include "graph/rewrites/builder.h"
#include "graph/rewrites/rewrite.h"

namespace hone::graph {

namespace {

// Matches x + 0, x - 0, x * 1, x / 1 and x ** 1.
bool IsNeutralArithmetic(const Node& node) {
  const bool plain_division = node.op != Op::kDiv || std::holds_alternative<None>(node.Arg("rounding_mode"));
  const std::optional<double> other =
      node.op == Op::kPow ? node.NumberArg("exponent") : node.NumberArg("other");
  if (!other || !plain_division) return false;
  switch (node.op) {
    case Op::kAdd:
    case Op::kSub:
      return *other == 0;
    case Op::kMul:
    case Op::kDiv:
    case Op::kPow:
      return *other == 1;
    default:
      return false;
  }
}

bool ReturnsItsArgument(const Node& node) {
  switch (node.op) {
    case Op::kDropout:
      return node.BoolArg("train") == false || node.NumberArg("p") == 0.0;
    case Op::kDetach:
    case Op::kAlias:
    case Op::kLift:
    case Op::kContiguous:
    case Op::kClone:
    case Op::kToDtype:
    case Op::kView:
    case Op::kReshape:
    case Op::kFlatten:
    case Op::kUnflatten:
    case Op::kSqueeze:
    case Op::kExpand:
      return true;  // the caller checks that the type stays the same
    case Op::kSlice:
    case Op::kNarrow:
      return true;  // the shape shows that it takes the whole axis, unless the axis is empty
    case Op::kPermute: {
      const auto dims = node.IntsArg("dims");
      return dims && std::is_sorted(dims->begin(), dims->end());
    }
    case Op::kTranspose:
      return node.IntArg("dim0") && node.IntArg("dim0") == node.IntArg("dim1");
    default:
      return IsNeutralArithmetic(node);
  }
}

}  // namespace

int DropNoOps(Graph& graph) {
  return ForEachNode(graph, [&](NodeId, const Node& node) {
    const std::optional<ValueId> operand = Operand(node);
    if (!operand || node.results.size() != 1 || !ReturnsItsArgument(node)) return false;
    if (graph.type(*operand) != graph.type(node.result())) return false;
    // A returned clone stays: the caller may write into it. So does a returned `contiguous`, which copies
    // other memory orders than that of the task.
    if ((node.op == Op::kClone || node.op == Op::kContiguous) && graph.IsOutput(node.result())) return false;
    // A move to another device stays.
    if (node.op == Op::kToDtype && std::holds_alternative<Symbol>(node.Arg("device"))) return false;
    graph.ReplaceUses(node.result(), *operand);
    return true;
  });
}

}  // namespace hone::graph

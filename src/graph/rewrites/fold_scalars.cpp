// Merges a chain of additions and multiplications by numbers: x * a / b + c - d becomes x * (a / b) + (c -
// d). Applies only if the chain gets shorter, in floating point, with finite factors.
#include <cmath>

#include "graph/rewrites/builder.h"
#include "graph/rewrites/rewrite.h"

namespace hone::graph {

namespace {

// y = scale * x + shift.
struct Affine {
  double scale = 1;
  double shift = 0;
};

// The affine map by numbers that a node applies to its argument, if it is one.
std::optional<Affine> AffineOf(const Graph& graph, const Node& node) {
  if (node.results.size() != 1 || !node.ValueArg("self")) return std::nullopt;
  const TensorType& from = graph.type(*node.ValueArg("self"));
  const TensorType& to = graph.type(node.result());
  if (!IsFloating(from.dtype) || from.dtype != to.dtype || from.shape != to.shape) return std::nullopt;
  if (node.op == Op::kNeg) return Affine{-1, 0};
  const std::optional<double> other = node.NumberArg("other");
  const double alpha = node.NumberArg("alpha").value_or(1);
  if (!other) return std::nullopt;
  switch (node.op) {
    case Op::kAdd:
      return Affine{1, alpha * *other};
    case Op::kSub:
      return Affine{1, -alpha * *other};
    case Op::kRsub:
      return Affine{-alpha, *other};
    case Op::kMul:
      return Affine{*other, 0};
    case Op::kDiv:
      if (*other == 0 || !std::holds_alternative<None>(node.Arg("rounding_mode"))) return std::nullopt;
      return Affine{1 / *other, 0};
    default:
      return std::nullopt;
  }
}

}  // namespace

int FoldScalars(Graph& graph) {
  return ForEachNode(graph, [&](NodeId id, const Node& node) {
    std::optional<Affine> map = AffineOf(graph, node);
    if (!map) return false;
    // Starts only at the end of a chain, so that each chain is folded once.
    for (const NodeId user : graph.Users(node.result()))
      if (graph.HasOneUse(node.result()) && AffineOf(graph, graph.node(user))) return false;
    ValueId source = *node.ValueArg("self");
    int length = 1;
    while (const Node* before = OnlyDefinition(graph, source)) {
      const std::optional<Affine> inner = AffineOf(graph, *before);
      if (!inner) break;
      map = Affine{map->scale * inner->scale, map->scale * inner->shift + map->shift};
      source = *before->ValueArg("self");
      ++length;
    }
    const int needed = (map->scale != 1 ? 1 : 0) + (map->shift != 0 ? 1 : 0);
    if (needed >= length || !std::isfinite(map->scale) || !std::isfinite(map->shift)) return false;
    Builder build(graph, id);
    ValueId folded = source;
    if (map->scale != 1) folded = build.Mul(folded, map->scale);
    if (map->shift != 0) folded = build.Add(folded, map->shift);
    graph.ReplaceUses(node.result(), folded);
    return true;
  });
}

}  // namespace hone::graph

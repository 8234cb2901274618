#include "graph/degenerate.h"

#include <fmt/format.h>

#include "graph/demand.h"
#include "graph/rewrites/builder.h"

namespace hone::graph {

namespace {

constexpr char kUnreadElements[] = "unread_elements";

// Replaces weights whose initial elements are all equal by numbers.
void FixUniformWeights(Graph& graph) {
  if (graph.order().empty()) return;
  for (const ValueKind kind : {ValueKind::kParameter, ValueKind::kBuffer})
    for (const ValueId id : graph.ValuesOf(kind)) {
      const Value value = graph.value(id);
      if (!value.uniform || graph.Users(id).empty()) continue;
      Builder build(graph, graph.order().front());
      graph.ReplaceUses(id, build.Full(id, value.type.shape, *value.uniform, value.type.dtype));
    }
}

Result<Degeneracy> Find(Graph graph) {
  HONE_ASSIGN_OR_RETURN(const std::vector<AppliedRewrite> applied, ApplyRewrites(graph));
  if (IsDegenerate(graph)) return ExplainDegenerate(applied);
  if (!ReadsAnyInput(graph))
    return Degeneracy{
        true, false, kUnreadElements,
        "the output does not depend on the inputs (it reads only elements that no input reaches)"};
  return Degeneracy{};
}

}  // namespace

Degeneracy ExplainDegenerate(const std::vector<AppliedRewrite>& applied) {
  for (const AppliedRewrite& one : applied)
    if (one.made_degenerate)
      return {true, false, one.name,
              fmt::format("the output does not depend on the inputs ({}: {})", one.name, one.what)};
  return {true, false, "", "the output does not depend on the inputs (forward computes nothing from them)"};
}

Result<Degeneracy> FindDegeneracy(Graph graph) {
  HONE_ASSIGN_OR_RETURN(Degeneracy found, Find(graph));
  if (found.found) return found;
  FixUniformWeights(graph);
  HONE_ASSIGN_OR_RETURN(found, Find(std::move(graph)));
  if (!found.found) return found;
  found.as_built = true;
  found.why = "with the weights that it is built with, " + found.why;
  return found;
}

}  // namespace hone::graph

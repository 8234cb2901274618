#include "evaluation/graph_facts.h"

#include <algorithm>

#include "evaluation/tree_values.h"
#include "graph/cost.h"
#include "graph/degenerate.h"

namespace hone {

namespace {

constexpr double kRounding = 1e-9;  // relative rounding error of float64 answers

bool IsOwnDraw(const Case& one, size_t instance) {
  return one.instance == instance && one.change.empty() && one.variant.empty();
}

}  // namespace

Result<bool> AnswersAgree(const Case& a, const Case& b) {
  if (a.truth.leaves.size() != b.truth.leaves.size()) return false;
  for (size_t i = 0; i < a.truth.leaves.size(); ++i) {
    if (a.truth.leaves[i].shape != b.truth.leaves[i].shape) return false;
    HONE_ASSIGN_OR_RETURN(const Distance moved, CompareLeaves(b.truth, a.truth, i));
    const double rounding = kRounding + a.reference_error[i].relative + b.reference_error[i].relative;
    if (moved.non_finite > 0 || !(moved.relative <= rounding)) return false;
  }
  return true;
}

Result<bool> DrawsAgree(TruthBuilder& builder, const Truth& truth, size_t instance) {
  const Case* first = nullptr;
  int compared = 0;
  for (const Case& one : truth.cases) {
    if (!IsOwnDraw(one, instance)) continue;
    if (first == nullptr) {
      first = &one;
      continue;
    }
    HONE_ASSIGN_OR_RETURN(const CaseLease held, builder.Hold(*first));
    HONE_ASSIGN_OR_RETURN(const CaseLease another, builder.Hold(one));
    HONE_ASSIGN_OR_RETURN(const bool agree, AnswersAgree(*first, one));
    if (!agree) return false;
    ++compared;
  }
  return compared > 0;
}

Status TakeGraphFacts(const graph::Graph& graph, const std::vector<bool>& answers_agree, Card* card) {
  card->flops = graph::FlopsPerCall(graph);
  card->counted_by = "graph";
  graph::Graph rewritten = graph;
  HONE_ASSIGN_OR_RETURN(const std::vector<graph::AppliedRewrite> applied, graph::ApplyRewrites(rewritten));
  const double written = card->flops - graph::SkippableFlops(graph);
  card->least_flops = std::min(graph::FlopsPerCall(rewritten), written);
  card->cudnn_flops = graph::CudnnFlopsPerCall(card->least_flops < written ? rewritten : graph);
  card->graph_bytes = static_cast<int64_t>(graph::BytesPerCall(rewritten));
  if (answers_agree.empty() || !answers_agree[0]) return Ok();
  HONE_ASSIGN_OR_RETURN(const graph::Degeneracy found, graph::FindDegeneracy(graph));
  // Other weights must not matter either, unless the claim concerns only the initial weights.
  const bool for_any = std::all_of(answers_agree.begin(), answers_agree.end(), [](bool one) { return one; });
  if (!found.found || (!found.as_built && !for_any)) return Ok();
  card->degenerate = found.why;
  card->degenerate_rule = found.rule;
  return Ok();
}

}  // namespace hone

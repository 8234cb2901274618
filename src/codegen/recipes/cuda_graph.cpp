// Runs the whole module as one CUDA graph, with a single launch from the host.
#include "codegen/candidate_text.h"
#include "codegen/cost.h"

namespace hone {

Result<RecipeAnswer> ProposeCudaGraph(const RecipeContext& context) {
  if (!context.on_gpu()) return RecipeAnswer(Declined{"", "it needs a GPU"});
  if (const std::string why = WhyNotPrepared(context); !why.empty()) return RecipeAnswer(Declined{"", why});
  CandidateParts parts;
  parts.recipe = "library/cuda_graph";
  parts.title = "The module replayed from a CUDA graph";
  parts.about =
      "The first call with new shapes captures everything Model.forward launches; later calls copy their "
      "inputs in, replay, "
      "and copy the results out. Weights are read where they are, so loading others in place is seen; when "
      "they move, it is captured anew.";
  parts.files = {"part_kept.py", "cuda_graph.py", "part_compiling.py", "part_prepared.py"};
  parts.values = {
      {"folded", false}, {"graph", true}, {"tf32", GetBool(context.inputs.machine, "tf32_allowed")}};
  Proposal proposal;
  proposal.title = parts.title;
  proposal.is_baseline = true;
  proposal.why = "the host launches every operator one by one; a graph launches them at once";
  proposal.predicted_us = OperatorChainUs(context, "cuda_graph");
  HONE_ASSIGN_OR_RETURN(proposal.source, WriteCandidate(context, parts));
  return RecipeAnswer(std::move(proposal));
}

}  // namespace hone

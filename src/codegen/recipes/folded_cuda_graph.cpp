// Folds batch norms into convolutions, uses channels-last images, and runs all of it as one CUDA graph.
#include "codegen/candidate_text.h"
#include "codegen/cost.h"

namespace hone {

Result<RecipeAnswer> ProposeFoldedCudaGraph(const RecipeContext& context) {
  if (!context.on_gpu()) return RecipeAnswer(Declined{"", "it needs a GPU"});
  if (const std::string why = WhyNotPrepared(context); !why.empty()) return RecipeAnswer(Declined{"", why});
  if (context.convolutions == 0) return RecipeAnswer(Declined{"", "it has no convolutions"});
  CandidateParts parts;
  parts.recipe = "library/folded_cuda_graph";
  parts.title = "Folded, channels-last convolutions replayed from a CUDA graph";
  parts.about =
      "Batch norms are folded into the convolutions before them and images keep their channels last, which "
      "is what tensor cores "
      "read; the result is captured once per shape and replayed. Weights that change are noticed and folded "
      "again.";
  parts.files = {"part_kept.py",  "part_shadow.py",    "part_folded.py",
                 "cuda_graph.py", "part_compiling.py", "part_prepared.py"};
  parts.values = {
      {"folded", true}, {"graph", true}, {"tf32", GetBool(context.inputs.machine, "tf32_allowed")}};
  Proposal proposal;
  proposal.title = parts.title;
  proposal.why = "fewer kernels, the layout the library likes best, and one launch";
  proposal.predicted_us = OperatorChainUs(context, "folded_cuda_graph");
  HONE_ASSIGN_OR_RETURN(proposal.source, WriteCandidate(context, parts));
  return RecipeAnswer(std::move(proposal));
}

}  // namespace hone

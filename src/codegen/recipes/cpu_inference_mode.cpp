// Runs forward in inference_mode, without version counters and view tracking.
#include "codegen/candidate_text.h"
#include "codegen/cost.h"

namespace hone {

Result<RecipeAnswer> ProposeCpuInferenceMode(const RecipeContext& context) {
  if (context.on_gpu()) return RecipeAnswer(Declined{"", "it is for the CPU"});
  if (context.keeps_state)
    return RecipeAnswer(
        Declined{"", "the module keeps tensors from call to call, which would become inference tensors"});
  CandidateParts parts;
  parts.recipe = "library/cpu_inference_mode";
  parts.title = "The module under inference_mode";
  parts.about =
      "Model as it is; where the caller wants no gradients, tensors are made without version counters and "
      "view tracking. The "
      "results are inference tensors: they cannot be used in autograd later.";
  parts.files = {"cpu_inference_mode.py"};
  Proposal proposal;
  proposal.title = parts.title;
  proposal.why = "less bookkeeping per operator";
  proposal.predicted_us = OperatorChainUs(context, "cpu_inference_mode");
  HONE_ASSIGN_OR_RETURN(proposal.source, WriteCandidate(context, parts));
  return RecipeAnswer(std::move(proposal));
}

}  // namespace hone

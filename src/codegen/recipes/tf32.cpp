// Uses TF32 for matrix products if the precision limit allows it.
#include "codegen/candidate_text.h"
#include "codegen/cost.h"

namespace hone {

Result<RecipeAnswer> ProposeTf32(const RecipeContext& context) {
  if (!context.on_gpu()) return RecipeAnswer(Declined{"", "it needs a GPU"});
  if (!GetBool(context.inputs.machine, "tf32_allowed"))
    return RecipeAnswer(Declined{"", "the precision limit does not allow TF32"});
  CandidateParts parts;
  parts.recipe = "library/tf32";
  parts.title = "Matrix products in TF32";
  parts.about =
      "Model as it is, with TF32 allowed for matrix products and convolutions while it runs; the settings "
      "are put back afterwards.";
  parts.files = {"tf32.py"};
  Proposal proposal;
  proposal.title = parts.title;
  proposal.why = "tensor cores take float32 products in TF32";
  proposal.predicted_us = OperatorChainUs(context, "eager");
  HONE_ASSIGN_OR_RETURN(proposal.source, WriteCandidate(context, parts));
  return RecipeAnswer(std::move(proposal));
}

}  // namespace hone

// Runs linear layers on weights that MKL (or else oneDNN) has packed in advance.
#include "codegen/candidate_text.h"
#include "codegen/cost.h"

namespace hone {

Result<RecipeAnswer> ProposeCpuPackedWeights(const RecipeContext& context) {
  if (context.on_gpu()) return RecipeAnswer(Declined{"", "it is for the CPU"});
  if (const std::string why = WhyNotPrepared(context); !why.empty()) return RecipeAnswer(Declined{"", why});
  if (context.linears == 0) return RecipeAnswer(Declined{"", "it has no linear layers"});
  if (context.reduced)
    return RecipeAnswer(Declined{"", "half-precision products are packed by the library itself"});
  CandidateParts parts;
  parts.recipe = "library/cpu_packed_weights";
  parts.title = "Linear layers with packed weights";
  parts.about =
      "Every nn.Linear reads a second copy of its weight in the library's own order, made at the first call "
      "and again when the "
      "weight changes.";
  parts.files = {"part_kept.py", "part_shadow.py", "cpu_packed_weights.py", "part_compiling.py",
                 "part_prepared.py"};
  parts.values = {{"graph", false}};
  Proposal proposal;
  proposal.title = parts.title;
  proposal.why = "a product with few rows spends its time on reordering the weight";
  proposal.predicted_us = OperatorChainUs(context, "cpu_packed_weights");
  HONE_ASSIGN_OR_RETURN(proposal.source, WriteCandidate(context, parts));
  return RecipeAnswer(std::move(proposal));
}

}  // namespace hone

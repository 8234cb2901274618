// Runs a frozen TorchScript trace, with folded constants, folded batch norms and weights packed for oneDNN.
#include "codegen/candidate_text.h"
#include "codegen/cost.h"

namespace hone {

Result<RecipeAnswer> ProposeCpuJitFreeze(const RecipeContext& context) {
  if (context.on_gpu()) return RecipeAnswer(Declined{"", "it is for the CPU"});
  if (const std::string why = WhyNotPrepared(context); !why.empty()) return RecipeAnswer(Declined{"", why});
  CandidateParts parts;
  parts.recipe = "library/cpu_jit_freeze";
  parts.title = "The module traced and frozen";
  parts.about =
      "Traced once per shape, with weights as constants, batch norms folded and convolutions in oneDNN's own "
      "order. When weights "
      "change, it is traced again; a forward that decides by values runs as it is.";
  parts.files = {"part_kept.py", "part_shadow.py", "cpu_jit_freeze.py", "part_compiling.py",
                 "part_prepared.py"};
  parts.values = {{"graph", false}};
  Proposal proposal;
  proposal.title = parts.title;
  proposal.why = "no Python between operators, and weights in the order the library likes best";
  proposal.predicted_us = OperatorChainUs(context, "cpu_jit_freeze");
  HONE_ASSIGN_OR_RETURN(proposal.source, WriteCandidate(context, parts));
  return RecipeAnswer(std::move(proposal));
}

}  // namespace hone

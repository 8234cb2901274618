// Uses torch.compile if the installed torch has it.
#include "codegen/candidate_text.h"
#include "codegen/cost.h"

namespace hone {

Result<RecipeAnswer> ProposeCompile(const RecipeContext& context) {
  if (const std::string why = WhyNotPrepared(context); !why.empty()) return RecipeAnswer(Declined{"", why});
  if (!GetBool(context.inputs.machine, "has_compile"))
    return RecipeAnswer(Declined{"", "there is no torch.compile here"});
  if (context.on_gpu() && !GetBool(context.inputs.machine, "has_triton"))
    return RecipeAnswer(Declined{"", "torch.compile needs Triton on a GPU"});
  if (!context.on_gpu() && !GetBool(context.inputs.machine, "gxx"))
    return RecipeAnswer(Declined{"", "torch.compile needs a C++ compiler on a CPU"});
  if (!context.plan.modules.empty())
    return RecipeAnswer(
        Declined{"", "torch.compile leaves recurrent modules to the library, so it can only add overhead"});
  if (context.plan.loop.has_value())
    return RecipeAnswer(
        Declined{"", "torch.compile would unroll the loop over time: minutes of compilation"});
  CandidateParts parts;
  parts.recipe = "library/compile";
  parts.title = "The module through torch.compile";
  parts.about =
      "Compiled on the first call with new shapes; where that does not work, the module runs as it is.";
  parts.files = {"part_kept.py", "part_shadow.py", "compile.py", "part_compiling.py", "part_prepared.py"};
  parts.values = {{"graph", false}};
  Proposal proposal;
  proposal.title = parts.title;
  proposal.is_baseline = true;
  proposal.why = "elementwise operators are fused with their neighbours";
  proposal.predicted_us = OperatorChainUs(context, "compile");
  HONE_ASSIGN_OR_RETURN(proposal.source, WriteCandidate(context, parts));
  return RecipeAnswer(std::move(proposal));
}

}  // namespace hone

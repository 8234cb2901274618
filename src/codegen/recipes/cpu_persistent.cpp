// Runs all steps and layers of a recurrent network in one call of an included C++ kernel: packed weights,
// fused gates, and threads that run during the whole sequence. It does not compute unused outputs.
#include "codegen/candidate_text.h"
#include "codegen/cost.h"
#include "codegen/recurrent_text.h"

namespace hone {

namespace {

// This kernel also supports an LSTM with projections.
std::string WhyNotHere(const RecurrentModule& module) {
  RecurrentModule without_projection = module;
  without_projection.proj_size = 0;
  return WhyNotModule(without_projection);
}

}  // namespace

Result<RecipeAnswer> ProposeCpuPersistent(const RecipeContext& context) {
  const auto decline = [](std::string why) { return RecipeAnswer(Declined{"", std::move(why)}); };
  if (context.on_gpu()) return decline("it is for the CPU");
  HONE_ASSIGN_OR_RETURN(const Takeover takeover, PlanTakeover(context, WhyNotHere));
  if (context.plan.recognised && !GetBool(context.inputs.machine, "gxx"))
    return decline("there is no C++ compiler to build the kernel with");
  if (!takeover.why_not.empty()) return decline(takeover.why_not);
  CandidateParts parts;
  parts.values = takeover.values;
  HONE_ASSIGN_OR_RETURN(parts.values["runtime"], RuntimeText({"part_runtime.py", "part_recurrent_modules.py",
                                                              "part_cpu_build.py", "recurrent_cpu.py"}));
  parts.recipe = "cpu/persistent";
  parts.title = "Recurrent steps in one persistent CPU kernel";
  parts.about = "Seen in the task: " + context.plan.sentence +
                ". All steps run in one call of the C++ kernel below, which is compiled on first use and "
                "kept. What it does not "
                "cover (gradients, other dtypes, no compiler) runs in PyTorch as before.";
  parts.files = {"recurrent_model.py"};
  Proposal proposal;
  proposal.title = parts.title;
  proposal.why = context.plan.sentence;
  proposal.predicted_us = PersistentUs(context);
  HONE_ASSIGN_OR_RETURN(proposal.source, WriteCandidate(context, parts));
  return RecipeAnswer(std::move(proposal));
}

}  // namespace hone

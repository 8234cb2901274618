// Runs all steps of a recurrent network in one Triton launch. It is for GPUs without a CUDA compiler, and is
// a simple version of the CUDA recipes: programs divide the hidden units and synchronise at a barrier after
// every step of a cooperative launch.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/candidate_text.h"
#include "codegen/recurrent_text.h"

namespace hone {

namespace {

std::string WhyNotInPrograms(const RecurrentModule& module, const TritonCosts& costs) {
  if (std::string why = WhyNotModule(module); !why.empty()) return why;
  if (module.hidden_size > costs.most_hidden)
    return fmt::format("{} has {} hidden units; programs for at most {} are on the device at once",
                       module.path, module.hidden_size, costs.most_hidden);
  return "";
}

double ModuleUs(const RecurrentModule& module, const TritonCosts& costs) {
  const auto layers = static_cast<double>(module.num_layers);
  const auto steps = static_cast<double>(module.steps());
  const bool wavefront = !module.bidirectional && module.num_layers > 1;
  const double us =
      wavefront ? (steps + layers - 1) * costs.wavefront_step_us : layers * steps * costs.layer_step_us;
  return static_cast<double>(std::max<int64_t>(1, module.calls)) * us;
}

}  // namespace

Result<RecipeAnswer> ProposeTritonPersistent(const RecipeContext& context) {
  const auto decline = [](std::string why) { return RecipeAnswer(Declined{"", std::move(why)}); };
  const Json& machine = context.inputs.machine;
  if (!context.on_gpu()) return decline("it needs a GPU");
  if (!GetBool(machine, "has_triton")) return decline("there is no Triton here");
  if (context.inputs.target != "triton" && (GetBool(machine, "nvcc") || GetBool(machine, "nvrtc")))
    return decline(
        "there is a CUDA compiler, and kernels in CUDA are faster (--target triton asks for this one)");
  const TritonCosts& costs = context.costs.gpu.triton;
  HONE_ASSIGN_OR_RETURN(const Takeover takeover, PlanTakeover(context, [&](const RecurrentModule& module) {
                          return WhyNotInPrograms(module, costs);
                        }));
  if (!takeover.why_not.empty()) return decline(takeover.why_not);
  if (context.plan.loop && context.plan.loop->hidden_size > costs.most_hidden)
    return decline(
        fmt::format("the loop has {} hidden units; programs for at most {} are on the device at once",
                    context.plan.loop->hidden_size, costs.most_hidden));
  CandidateParts parts;
  parts.values = takeover.values;
  HONE_ASSIGN_OR_RETURN(parts.values["runtime"],
                        RuntimeText({"part_runtime.py", "part_recurrent_modules.py", "recurrent_triton.py"}));
  parts.recipe = "triton/persistent";
  parts.title = "All recurrent steps in one cooperative Triton launch";
  parts.about = "Seen in the task: " + context.plan.sentence +
                ". Programs split the hidden units and wait for each other after every step; they all run at "
                "once or the launch is refused. Precision follows PyTorch's own flags. What the kernel does "
                "not cover (gradients, other dtypes, more units than fit) runs in PyTorch as before.";
  parts.files = {"recurrent_model.py"};
  Proposal proposal;
  proposal.title = parts.title;
  proposal.why = context.plan.sentence;
  for (const RecurrentModule* module : takeover.modules) proposal.predicted_us += ModuleUs(*module, costs);
  const std::vector<TensorShape>& inputs = context.inputs.card.inputs;
  if (context.plan.loop) {
    const auto axis = static_cast<size_t>(context.plan.loop->time_axis);
    const int64_t steps = !inputs.empty() && axis < inputs[0].shape.size() ? inputs[0].shape[axis] : 1;
    proposal.predicted_us += static_cast<double>(steps) * costs.layer_step_us;
  }
  HONE_ASSIGN_OR_RETURN(proposal.source, WriteCandidate(context, parts));
  return RecipeAnswer(std::move(proposal));
}

}  // namespace hone

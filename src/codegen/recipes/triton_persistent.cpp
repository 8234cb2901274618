// All steps of a recurrent network in one launch written in Triton, for GPUs without a CUDA compiler and as
// the plain form of what the CUDA recipes do: programs split the hidden units, keep their weights, and meet
// at a barrier after every step of a cooperative launch.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/candidate_text.h"
#include "codegen/recurrent_text.h"

namespace hone {

namespace {

// Measured on an H200: a step of the chain with its barrier through L2, and what a call costs besides.
constexpr double kStepUs = 3.0;
constexpr double kCallUs = 150;

// What one program can keep of the weights: with more hidden units sixteen of them do not fit a processor.
constexpr int64_t kMostHidden = 1024;

std::string WhyNotInPrograms(const RecurrentModule& module) {
  if (std::string why = WhyNotModule(module); !why.empty()) return why;
  if (module.hidden_size > kMostHidden)
    return fmt::format("{} has {} hidden units; a program keeps the weights of at most {}", module.path,
                       module.hidden_size, kMostHidden);
  return "";
}

double ModuleUs(const RecurrentModule& module) {
  const auto layers = static_cast<double>(module.num_layers);
  const auto steps = static_cast<double>(module.steps());
  const double chain = module.bidirectional ? layers * steps : steps + layers - 1;
  return static_cast<double>(std::max<int64_t>(1, module.calls)) * (kCallUs + chain * kStepUs);
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
  HONE_ASSIGN_OR_RETURN(const Takeover takeover, PlanTakeover(context, WhyNotInPrograms));
  if (!takeover.why_not.empty()) return decline(takeover.why_not);
  if (context.plan.loop && context.plan.loop->hidden_size > kMostHidden)
    return decline(fmt::format("the loop has {} hidden units; a program keeps the weights of at most {}",
                               context.plan.loop->hidden_size, kMostHidden));
  CandidateParts parts;
  parts.values = takeover.values;
  HONE_ASSIGN_OR_RETURN(parts.values["runtime"],
                        RuntimeText({"part_recurrent_modules.py", "recurrent_triton.py"}, {}));
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
  for (const RecurrentModule* module : takeover.modules) proposal.predicted_us += ModuleUs(*module);
  const std::vector<TensorShape>& inputs = context.inputs.card.inputs;
  if (context.plan.loop) {
    const auto axis = static_cast<size_t>(context.plan.loop->time_axis);
    const int64_t steps = !inputs.empty() && axis < inputs[0].shape.size() ? inputs[0].shape[axis] : 1;
    proposal.predicted_us += kCallUs + static_cast<double>(steps) * kStepUs;
  }
  HONE_ASSIGN_OR_RETURN(proposal.source, WriteCandidate(context, parts));
  return RecipeAnswer(std::move(proposal));
}

}  // namespace hone

// Runs recurrent networks that are too large for a cluster. cuda/cooperative_grid keeps the weights in the
// registers and shared memory of the whole chip and exchanges the state through L2, with one cooperative
// launch for each layer or for several at once. cuda/step_graph is for weights that do not fit on the chip: a
// product and a kernel per step, in a CUDA graph. One runtime contains both and the cluster kernels, and
// chooses the fastest predicted one for every shape. It runs PyTorch where that is faster.
#include <fmt/format.h>

#include "base/text.h"
#include "codegen/candidate_text.h"
#include "codegen/recurrent_cost.h"
#include "codegen/recurrent_text.h"

namespace hone {

namespace {

std::string WhyNotBounded(const RecurrentModule& module) {
  if (std::string why = WhyNotModuleOfAnyFloat(module); !why.empty()) return why;
  if (module.kind == "RNN" && module.nonlinearity == "relu")
    return module.path + " has ReLU states, which are not bounded, and the exchange needs that";
  return "";
}

std::string WhyNotOverTheChip(const RecurrentModule& module, const GpuCosts& costs) {
  if (std::string why = WhyNotBounded(module); !why.empty()) return why;
  const RecurrentShape shape = ShapeOf(module);
  const std::optional<double> grid = GridUs(shape, costs);
  if (!grid)
    return fmt::format(
        "{}: the weights of {} hidden units and the states of {} sequences do not fit the chip at once",
        module.path, shape.hidden, shape.batch);
  if (const std::optional<double> cluster = ClusterUs(shape, costs.cluster); cluster && *cluster <= *grid)
    return fmt::format("{} fits clusters, whose exchange is shorter ({:.0f} us, and {:.0f} us here)",
                       module.path, *cluster, *grid);
  if (const double pytorch = PytorchUs(shape, costs.cudnn); costs.of_pytorch * pytorch <= *grid)
    return fmt::format("PyTorch is predicted to be as fast for {} ({:.0f} us, and {:.0f} us here)",
                       module.path, pytorch, *grid);
  return "";
}

std::string WhyNotStepByStep(const RecurrentModule& module, const GpuCosts& costs) {
  if (std::string why = WhyNotBounded(module); !why.empty()) return why;
  const RecurrentShape shape = ShapeOf(module);
  const std::optional<double> step = StepUs(shape, costs.step);
  if (!step)
    return fmt::format(
        "{}: {} steps are too many for a graph, {} hidden units no multiple of 8, or {} sequences too many "
        "to be "
        "faster than PyTorch",
        module.path, shape.steps * shape.layers, shape.hidden, shape.batch);
  const std::optional<double> grid = GridUs(shape, costs), cluster = ClusterUs(shape, costs.cluster);
  if ((grid && *grid <= *step) || (cluster && *cluster <= *step))
    return fmt::format("the weights of {} stay on the chip, which is faster than reading them every step",
                       module.path);
  if (const double pytorch = PytorchUs(shape, costs.cudnn); costs.of_pytorch * pytorch <= *step)
    return fmt::format(
        "a product and a kernel per step are predicted to take {:.0f} us for {}, and PyTorch in a CUDA graph "
        "{:.0f} us",
        *step, module.path, pytorch);
  return "";
}

struct Words {
  const char* recipe;
  const char* title;
  const char* about;
};
constexpr Words kGrid = {
    "cuda/cooperative_grid", "Recurrent layers over the whole chip, which keeps the weights",
    ". Each launch holds a layer, its two directions or several layers in the registers of all "
    "processors, which exchange the state through L2. "};
constexpr Words kStep = {
    "cuda/step_graph", "Recurrent steps of one product and one kernel each, in a CUDA graph",
    ". The weights are kept in half precision, and a step is one product and one kernel. "};

Result<RecipeAnswer> Write(const RecipeContext& context, const Words& words, const Takeover& takeover,
                           double us) {
  CandidateParts parts;
  parts.values = takeover.values;
  HONE_ASSIGN_OR_RETURN(parts.values["runtime"],
                        RuntimeText({"part_runtime.py", "part_recurrent_modules.py", "part_cuda_driver.py",
                                     "recurrent_cuda.py", "recurrent_grid.py", "recurrent_step.py"}));
  parts.recipe = words.recipe;
  parts.title = words.title;
  parts.about =
      "Seen in the task: " + context.plan.sentence + words.about +
      "The kernels below are compiled on first use (NVRTC, else nvcc) and kept. Their precision follows "
      "PyTorch's own flags. What they do not cover (gradients, float64, what PyTorch is predicted to do "
      "faster) runs in PyTorch as before.";
  parts.files = {"recurrent_model.py"};
  Proposal proposal;
  proposal.title = parts.title;
  proposal.why = context.plan.sentence;
  proposal.predicted_us = us;
  HONE_ASSIGN_OR_RETURN(proposal.source, WriteCandidate(context, parts));
  return RecipeAnswer(std::move(proposal));
}

double Calls(const RecurrentModule& module) {
  return static_cast<double>(std::max<int64_t>(1, module.calls));
}

std::string WhyNotMachine(const RecipeContext& context) {
  const int64_t sm = GetInt(context.inputs.machine, "sm", 0);
  if (sm >= 80 && sm < 110) return "";
  return fmt::format("it needs Ampere to a data-centre Blackwell (sm_80 to sm_100); this is sm_{}", sm);
}

}  // namespace

Result<RecipeAnswer> ProposeCudaCooperativeGrid(const RecipeContext& context) {
  const auto decline = [](std::string why) { return RecipeAnswer(Declined{"", std::move(why)}); };
  if (!context.on_gpu()) return decline("it needs a GPU");
  const GpuCosts& costs = context.costs.gpu;
  HONE_ASSIGN_OR_RETURN(const Takeover takeover, PlanTakeover(context, [&](const RecurrentModule& module) {
                          return WhyNotOverTheChip(module, costs);
                        }));
  if (!takeover.why_not.empty()) return decline(takeover.why_not);
  if (const std::string why = WhyNotMachine(context); !why.empty()) return decline(why);
  double us = 0;
  for (const RecurrentModule* module : takeover.modules)
    us += Calls(*module) * GridUs(ShapeOf(*module), costs).value_or(0);
  if (context.plan.loop) {
    if (context.plan.loop->activation == "relu")
      return decline("the loop's ReLU states are not bounded, and the exchange needs that");
    const RecurrentShape shape =
        ShapeOf(*context.plan.loop, context.inputs.card.inputs, GetString(takeover.values["loop"], "kind"));
    const std::optional<double> grid = GridUs(shape, costs), cluster = ClusterUs(shape, costs.cluster);
    if (!grid)
      return decline(
          fmt::format("the loop's {} hidden units do not fit the chip at float32 precision", shape.hidden));
    if (cluster && *cluster <= *grid) return decline("the loop fits clusters, whose exchange is shorter");
    us += *grid;
  }
  return Write(context, kGrid, takeover, us);
}

Result<RecipeAnswer> ProposeCudaStepGraph(const RecipeContext& context) {
  const auto decline = [](std::string why) { return RecipeAnswer(Declined{"", std::move(why)}); };
  if (!context.on_gpu()) return decline("it needs a GPU");
  const GpuCosts& costs = context.costs.gpu;
  HONE_ASSIGN_OR_RETURN(const Takeover takeover, PlanTakeover(context, [&](const RecurrentModule& module) {
                          return WhyNotStepByStep(module, costs);
                        }));
  if (!takeover.why_not.empty()) return decline(takeover.why_not);
  if (const std::string why = WhyNotMachine(context); !why.empty()) return decline(why);
  if (context.plan.loop) return decline("the loop multiplies in float32, and this recipe in half precision");
  double us = 0;
  for (const RecurrentModule* module : takeover.modules)
    us += Calls(*module) * StepUs(ShapeOf(*module), costs.step).value_or(0);
  return Write(context, kStep, takeover, us);
}

}  // namespace hone

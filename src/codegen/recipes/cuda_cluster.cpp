// Runs a stack of recurrent layers in one launch on Hopper: a cluster of CTAs per layer and group of
// sequences keeps its weights in registers and exchanges the state through distributed shared memory. One
// direction runs as a wavefront over all layers. Two directions run together, layer by layer, with the input
// products in between. Both use one runtime but differ in the supported modules and in the cost of a step. If
// PyTorch uses TF32, both also exist at float32 accuracy, which is slower but 10,000 times as exact: cuDNN
// uses a higher accuracy in some products than its flag requires, and then twice its error is not always
// enough.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "codegen/candidate_text.h"
#include "codegen/recurrent_cost.h"
#include "codegen/recurrent_text.h"

namespace hone {

namespace {

enum class Precision { kAsPyTorch, kFloat32 };

RecurrentShape ShapeAt(const RecurrentModule& module, Precision precision) {
  RecurrentShape shape = ShapeOf(module);
  if (precision == Precision::kFloat32) shape.terms = 2;
  return shape;
}

std::string WhyNotInClusters(const RecurrentModule& module, const ClusterCosts& costs) {
  if (std::string why = WhyNotModuleOfAnyFloat(module); !why.empty()) return why;
  const RecurrentShape shape = ShapeOf(module);
  const ClusterFit fit = FitClusters(shape, costs);
  if (shape.hidden > fit.largest_hidden)
    return fmt::format("{} has {} hidden units; a cluster's registers hold at most {}", module.path,
                       shape.hidden, fit.largest_hidden);
  if (!fit.fits(shape))
    return fmt::format("{} needs {} clusters at once, and an H200 holds {}", module.path, fit.clusters,
                       fit.resident);
  return "";
}

std::string WhyNotLoop(const RecurrentShape& shape, const ClusterCosts& costs) {
  if (shape.relu)
    return "the loop's ReLU states are unbounded, and the kernel keeps those to 16 bits where PyTorch has 24";
  if (const int64_t largest = FitClusters(shape, costs).largest_hidden; shape.hidden > largest)
    return fmt::format(
        "the loop has {} hidden units; at float32 precision a cluster's registers hold at most {}",
        shape.hidden, largest);
  return "";
}

std::string WhyNotFloat32(const RecipeContext& context, const std::vector<const RecurrentModule*>& modules) {
  if (context.plan.loop) return "a hand-written loop is at float32 level already";
  if (!GetBool(context.inputs.facts, "cudnn_tf32")) return "the other recipe is at float32 level already";
  for (const RecurrentModule* module : modules) {
    if (module->kind == "RNN" && module->nonlinearity == "relu")
      return module->path + "'s ReLU states are unbounded, and the kernel keeps those to 16 bits";
    const RecurrentShape shape = ShapeAt(*module, Precision::kFloat32);
    if (const int64_t largest = FitClusters(shape, context.costs.gpu.cluster).largest_hidden;
        shape.hidden > largest)
      return fmt::format("{} has {} hidden units; at float32 level a cluster's registers hold at most {}",
                         module->path, module->hidden_size, largest);
  }
  return "";
}

Result<RecipeAnswer> Propose(const RecipeContext& context, bool bidirectional, Precision precision) {
  const auto decline = [](std::string why) { return RecipeAnswer(Declined{"", std::move(why)}); };
  if (!context.on_gpu()) return decline("it needs a GPU");
  const ClusterCosts& costs = context.costs.gpu.cluster;
  HONE_ASSIGN_OR_RETURN(const Takeover takeover, PlanTakeover(context, [&](const RecurrentModule& module) {
                          return WhyNotInClusters(module, costs);
                        }));
  if (!takeover.why_not.empty()) return decline(takeover.why_not);
  const bool both = std::any_of(takeover.modules.begin(), takeover.modules.end(),
                                [](const RecurrentModule* module) { return module->bidirectional; });
  if (both != bidirectional)
    return decline(both ? "it is for one direction; cuda/cluster_bidirectional takes this"
                        : "it is for two directions; cuda/cluster_wavefront takes this");
  const int64_t sm = GetInt(context.inputs.machine, "sm", 0);
  if (sm < 90 || sm >= 110)
    return decline(fmt::format(
        "clusters of this size need Hopper or a data-centre Blackwell (sm_90, sm_100); this is sm_{}", sm));
  if (precision == Precision::kFloat32)
    if (const std::string why = WhyNotFloat32(context, takeover.modules); !why.empty()) return decline(why);
  double predicted_us = 0;
  for (const RecurrentModule* module : takeover.modules)
    predicted_us += static_cast<double>(std::max<int64_t>(1, module->calls)) *
                    ClusterUs(ShapeAt(*module, precision), costs).value_or(0);
  if (context.plan.loop) {
    const RecurrentShape shape =
        ShapeOf(*context.plan.loop, context.inputs.card.inputs, GetString(takeover.values["loop"], "kind"));
    if (const std::string why = WhyNotLoop(shape, costs); !why.empty()) return decline(why);
    predicted_us += ClusterUs(shape, costs).value_or(0);
  }
  CandidateParts parts;
  parts.values = takeover.values;
  HONE_ASSIGN_OR_RETURN(parts.values["runtime"], RuntimeText({"part_runtime.py", "part_recurrent_modules.py",
                                                              "part_cuda_driver.py", "recurrent_cuda.py"}));
  parts.recipe = bidirectional ? "cuda/cluster_bidirectional" : "cuda/cluster_wavefront";
  parts.title = bidirectional
                    ? "Both directions of a recurrent layer at once, in clusters that keep the weights"
                    : "All recurrent layers at once, in clusters that keep the weights";
  if (precision == Precision::kFloat32) {
    parts.values["runtime"] = parts.values["runtime"].get<std::string>() + "\n\n_FULL_FLOAT32 = True\n";
    parts.recipe += "_fp32";
    parts.title += ", at float32 level";
  }
  parts.about =
      "Seen in the task: " + context.plan.sentence +
      (bidirectional ? ". Each layer is one product over all steps and one launch for both directions. "
                     : ". The whole stack is one launch, after one product for the first layer. ") +
      "The kernels below are compiled on first use (NVRTC, else nvcc) and kept. " +
      (precision == Precision::kFloat32 ? "Their precision is float32's, whatever PyTorch's flags allow. "
                                        : "Their precision follows PyTorch's own flags. ") +
      "What they do not cover (gradients, other dtypes, older GPUs) runs in PyTorch "
      "as before.";
  parts.files = {"recurrent_model.py"};
  Proposal proposal;
  proposal.title = parts.title;
  proposal.why = context.plan.sentence;
  proposal.predicted_us = predicted_us;
  HONE_ASSIGN_OR_RETURN(proposal.source, WriteCandidate(context, parts));
  return RecipeAnswer(std::move(proposal));
}

}  // namespace

Result<RecipeAnswer> ProposeCudaClusterWavefront(const RecipeContext& context) {
  return Propose(context, false, Precision::kAsPyTorch);
}

Result<RecipeAnswer> ProposeCudaClusterBidirectional(const RecipeContext& context) {
  return Propose(context, true, Precision::kAsPyTorch);
}

Result<RecipeAnswer> ProposeCudaClusterWavefrontFp32(const RecipeContext& context) {
  return Propose(context, false, Precision::kFloat32);
}

Result<RecipeAnswer> ProposeCudaClusterBidirectionalFp32(const RecipeContext& context) {
  return Propose(context, true, Precision::kFloat32);
}

}  // namespace hone

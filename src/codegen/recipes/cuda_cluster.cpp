// A stack of recurrent layers in one launch on Hopper: a cluster of CTAs per layer and group of sequences
// keeps its weights in registers and exchanges the state through distributed shared memory. One direction
// runs as a wavefront over all layers at once; two directions run layer by layer, both at once, with the
// input products between. One runtime serves both; they differ in what they take and in what a step costs.
// Where PyTorch rounds to TF32 both come at float32 level too, slower and ten thousand times as exact: cuDNN
// rounds less than its flag allows in some products, and then twice its error is not always enough.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "codegen/candidate_text.h"
#include "codegen/recurrent_text.h"

namespace hone {

namespace {

// Measured on an H200, batch 10, hidden 256: microseconds per step of the chain, and what a call costs
// besides (launch, first product, filling the wavefront's pipeline). Bidirectional RNNs were not measured.
struct StepCost {
  double wavefront_us;
  double bidirectional_us;
  double precise_us;  // a wavefront's at float32 level
};
constexpr StepCost kGruStep = {0.62, 0.52, 1.26};
constexpr StepCost kLstmStep = {0.68, 0.56, 1.34};
constexpr StepCost kRnnStep = {0.50, 0.50, 0.65};
constexpr double kCallUs = 48;

// Sequences that one cluster takes, and clusters of eight and of sixteen CTAs that an H200 holds at once.
constexpr int64_t kSequences = 8;
constexpr int64_t kResidentOfEight = 15;
constexpr int64_t kResidentOfSixteen = 7;

// What the registers and the shared memory of a cluster hold of hidden units, as the runtime computes it.
struct HiddenLimit {
  int64_t of_eight;  // in a cluster of eight CTAs
  int64_t stacked;   // several layers of one direction
  int64_t single;    // one layer, or layer by layer
  int64_t precise;   // at float32 level
};
constexpr HiddenLimit kGated = {256, 384, 384, 256};
constexpr HiddenLimit kSimple = {512, 512, 1024, 512};

HiddenLimit LimitOf(const std::string& kind) {
  return kind == "RNN" ? kSimple : kGated;
}

StepCost CostOf(const std::string& kind) {
  return kind == "GRU" ? kGruStep : kind == "LSTM" ? kLstmStep : kRnnStep;
}

std::string WhyNotInClusters(const RecurrentModule& module) {
  if (std::string why = WhyNotModuleOfAnyFloat(module); !why.empty()) return why;
  const HiddenLimit limit = LimitOf(module.kind);
  const bool stacked = !module.bidirectional && module.num_layers > 1;
  const int64_t largest = stacked ? limit.stacked : limit.single;
  if (module.hidden_size > largest)
    return fmt::format("{} has {} hidden units; a cluster's registers hold at most {}", module.path,
                       module.hidden_size, largest);
  const int64_t clusters = (module.batch() + kSequences - 1) / kSequences * module.num_layers;
  const int64_t resident = module.hidden_size > limit.of_eight ? kResidentOfSixteen : kResidentOfEight;
  if (stacked && clusters > resident)
    return fmt::format("{} needs {} clusters at once, and an H200 holds {}", module.path, clusters, resident);
  return "";
}

enum class Precision { kAsPyTorch, kFloat32 };

// At float32 level every step of a layer costs what a wavefront's does.
StepCost CostAt(const std::string& kind, Precision precision) {
  StepCost cost = CostOf(kind);
  if (precision == Precision::kFloat32) cost.wavefront_us = cost.bidirectional_us = cost.precise_us;
  return cost;
}

double ModuleUs(const RecurrentModule& module, Precision precision) {
  const StepCost cost = CostAt(module.kind, precision);
  const auto steps = static_cast<double>(module.steps());
  const auto layers = static_cast<double>(module.num_layers);
  const auto calls = static_cast<double>(std::max<int64_t>(1, module.calls));
  if (!module.bidirectional) return calls * (kCallUs + (steps + layers - 1) * cost.wavefront_us);
  const int64_t clusters = 2 * ((module.batch() + kSequences - 1) / kSequences);
  const int64_t turns = (clusters + kResidentOfEight - 1) / kResidentOfEight;
  return calls * (kCallUs + layers * steps * static_cast<double>(turns) * cost.bidirectional_us);
}

// Hand-written loops and cells multiply with plain Linears, which PyTorch runs in full float32.
double LoopUs(const RecipeContext& context, const std::string& kind) {
  const TimeLoop& loop = *context.plan.loop;
  double steps = 0;
  const auto axis = static_cast<size_t>(loop.time_axis);
  if (!context.inputs.card.inputs.empty() && axis < context.inputs.card.inputs[0].shape.size())
    steps = static_cast<double>(context.inputs.card.inputs[0].shape[axis]);
  return kCallUs + steps * CostOf(kind).precise_us;
}

std::string WhyNotLoop(const TimeLoop& loop, const std::string& kind) {
  if (loop.activation == "relu")
    return "the loop's ReLU states are unbounded, and the kernel keeps those to 16 bits where PyTorch has 24";
  if (const int64_t largest = LimitOf(kind).precise; loop.hidden_size > largest)
    return fmt::format(
        "the loop has {} hidden units; at float32 precision a cluster's registers hold at most {}",
        loop.hidden_size, largest);
  return "";
}

std::string WhyNotFloat32(const RecipeContext& context, const std::vector<const RecurrentModule*>& modules) {
  if (context.plan.loop) return "a hand-written loop is at float32 level already";
  if (!GetBool(context.inputs.facts, "cudnn_tf32")) return "the other recipe is at float32 level already";
  for (const RecurrentModule* module : modules) {
    if (module->kind == "RNN" && module->nonlinearity == "relu")
      return module->path + "'s ReLU states are unbounded, and the kernel keeps those to 16 bits";
    if (const int64_t largest = LimitOf(module->kind).precise; module->hidden_size > largest)
      return fmt::format("{} has {} hidden units; at float32 level a cluster's registers hold at most {}",
                         module->path, module->hidden_size, largest);
  }
  return "";
}

Result<RecipeAnswer> Propose(const RecipeContext& context, bool bidirectional, Precision precision) {
  const auto decline = [](std::string why) { return RecipeAnswer(Declined{"", std::move(why)}); };
  if (!context.on_gpu()) return decline("it needs a GPU");
  HONE_ASSIGN_OR_RETURN(const Takeover takeover, PlanTakeover(context, WhyNotInClusters));
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
  for (const RecurrentModule* module : takeover.modules) predicted_us += ModuleUs(*module, precision);
  if (context.plan.loop) {
    std::string kind = GetString(takeover.values["loop"], "kind");
    if (kind.empty()) kind = "RNN";
    if (const std::string why = WhyNotLoop(*context.plan.loop, kind); !why.empty()) return decline(why);
    predicted_us += LoopUs(context, kind);
  }
  CandidateParts parts;
  parts.values = takeover.values;
  HONE_ASSIGN_OR_RETURN(parts.values["runtime"],
                        RuntimeText({"part_recurrent_modules.py", "part_cuda_driver.py", "recurrent_cuda.py"},
                                    {"recurrent_cluster.cu", "product_tf32.cu"}));
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

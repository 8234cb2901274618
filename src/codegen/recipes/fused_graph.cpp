// Runs the task's graph with all memory-bound nodes in fused kernels: maps, reductions, norms, softmax,
// losses. On Hopper, float32 matrix products and convolutions use the fp16 tensor cores (fused/product.h,
// fused/convolution.h). Nodes without an emitter stay ATen calls. cuda/half_network uses cuDNN's convolutions
// and stores their inputs as fp16 in channels-last order (fused/half_graph.h).
#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "base/text.h"
#include "codegen/candidate_text.h"
#include "codegen/fused/attention.h"
#include "codegen/fused/graph_text.h"
#include "codegen/fused/half_graph.h"
#include "codegen/recurrent_text.h"
#include "graph/cost.h"
#include "graph/memory.h"
#include "graph/rewrites/rewrite.h"

namespace hone {

namespace {

constexpr double kLaunchesOfProduct = 5;  // splitting or packing, the product, sums, the error check
constexpr int64_t kLeastSm = 90;          // for the CUDA forms; clusters and bulk copies came with it
constexpr size_t kMostGuarded = 1024;     // words of templates/part_half_guard.cu

// The graph as kernels and calls.
struct Draft {
  graph::Graph graph;
  fused::Plan plan;
  fused::GraphText text;
  std::vector<std::string> rules;  // rewrites that simplified the graph
  bool simpler = false;   // rewrites removed operators or FLOPs, so that even the calls alone are worthwhile
  fused::HalfGraph half;  // for cuda/half_network
  fused::FusedAttention attention;
  std::vector<bool> fixed;  // graph::FixedValues
  std::map<graph::NodeId, fused::Product> chosen;
  std::map<graph::NodeId, fused::Convolution> convolutions;

  std::string RulesText(const std::string& lead) const {
    return rules.empty() ? "" : lead + Join(rules, ", ");
  }
  std::string Title() const {
    const auto count = [](size_t number, const std::string& what) {
      return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
    };
    std::vector<std::string> parts;
    if (!plan.kernels.empty()) parts.push_back(count(plan.kernels.size(), "fused kernel"));
    if (text.products > 0)
      parts.push_back(count(static_cast<size_t>(text.products), "product") + " on the tensor cores");
    if (half.convolutions > 0)
      parts.push_back(count(static_cast<size_t>(half.convolutions), "convolution") + " in fp16");
    if (text.convolutions > 0)
      parts.push_back(count(static_cast<size_t>(text.convolutions), "convolution") + " by Hone");
    if (attention.count > 0) parts.push_back(count(static_cast<size_t>(attention.count), "attention kernel"));
    parts.push_back(count(static_cast<size_t>(text.calls - half.convolutions - attention.count), "call") +
                    " of ATen");
    if (parts.size() == 1) return "The simplified graph in " + parts[0];
    return "The graph in " + Join({parts.begin(), parts.end() - 1}, ", ") + " and " + parts.back();
  }
  // The docstring of the file. `compiled` and `uncovered` depend on the device.
  std::string About(const std::string& compiled, const std::string& uncovered) const {
    return (text.about.empty() ? "Kernels: none" : "Kernels: " + Join(text.about, "; ")) +
           RulesText(". The graph was simplified first by ") + ". They are compiled on first use (" +
           compiled +
           "), kept, and written for the task's shapes. Weights are read where they lie; what follows from "
           "weights alone is computed once, and again when they change. What the kernels do not cover "
           "(gradients, other shapes or dtypes, train mode, autocast, " +
           uncovered + ") runs in PyTorch as before.";
  }
  std::string Why() const {
    if (text.about.empty()) return "the graph is simpler than the module" + RulesText(": ");
    std::string why = "operators that only move memory run together: ";
    if (half.convolutions > 0)
      return "convolutions round what they read to 11 bits, which fp16 in channels-last order holds: " +
             Join(text.about, "; ") + RulesText("; simplified by ");
    if (text.products > 0 || attention.count > 0)
      why = "PyTorch multiplies float32 outside of the tensor cores" +
            std::string(plan.kernels.empty() ? ": " : ", and " + why);
    if (text.convolutions > 0) why = "convolutions have kernels of Hone's own, and " + why;
    return why + Join(text.about, "; ") + RulesText("; simplified by ");
  }
};

// `products`: use Hone's kernel for products. `half`: convolutions in fp16.
std::variant<Draft, std::string> DraftGraph(const RecipeContext& context, fused::Language language,
                                            const fused::EmitterDevice& device, bool products,
                                            const GpuCosts& gpu, bool half = false) {
  if (std::string why = WhyNoGraph(context.inputs); !why.empty()) return why;
  Draft draft;
  draft.graph = *context.inputs.graph;
  // Hone's kernel skips blocks of zeros by itself, and splitting a product would only slow it down.
  const std::string left_out = products ? "skip_zeros" : "";
  Result<std::vector<graph::AppliedRewrite>> simplified = graph::ApplyRewrites(draft.graph, "", left_out);
  if (simplified.ok() && products && fused::ChooseProducts(draft.graph, context.costs.gpu).empty())
    simplified = graph::ApplyRewrites(draft.graph = *context.inputs.graph);
  if (!simplified.ok()) return "the graph could not be simplified: " + simplified.error().message;
  for (const graph::AppliedRewrite& rewrite : *simplified) {
    draft.rules.push_back(rewrite.name);
    // A node without effect takes no time in PyTorch either.
    const bool counts =
        rewrite.name != "drop_no_ops" && rewrite.name != "merge_views" && rewrite.name != "dead_code";
    draft.simpler = draft.simpler || rewrite.flops_removed > 0 || (counts && rewrite.nodes_removed > 0);
  }
  // A recurrent network is simplified by its own recipes.
  if (context.plan.recognised) draft.simpler = false;
  if (products) draft.attention = fused::FuseAttention(draft.graph, gpu);
  if (products && fused::ExpandAttention(draft.graph, gpu) > 0)
    draft.rules.emplace_back("attention as products");
  if (products) fused::FoldAroundProducts(draft.graph, context.costs.gpu);
  if (half) {
    draft.half = fused::StoreHalf(draft.graph, gpu);
    if (draft.half.convolutions == 0)
      return "there is no convolution of float32 that sums over 16 channels or more, with weights of its own";
    if (draft.half.groups.size() > kMostGuarded)
      return "it would store more tensors than the guard has words for";
    if (const Status good = draft.graph.Verify(); !good.ok()) return good.error().message;
  }
  std::set<graph::NodeId> as_calls;
  draft.fixed = graph::FixedValues(draft.graph);
  if (products) draft.chosen = fused::ChooseProducts(draft.graph, gpu);
  if (products && !half) draft.convolutions = fused::ChooseConvolutions(draft.graph, gpu);
  while (true) {
    draft.plan = fused::DivideIntoKernels(draft.graph, as_calls);
    if (draft.plan.kernels.empty() && draft.chosen.empty() && draft.convolutions.empty() &&
        draft.attention.count == 0 && !draft.simpler)
      return "no operator of the graph has an emitter";
    Result<fused::GraphText> text =
        fused::WriteGraph(draft.graph, draft.plan, language, device, draft.chosen, draft.convolutions,
                          graph::MemoryOfOutputs(*context.inputs.graph));
    if (!text.ok()) return text.error().message;
    draft.text = std::move(*text);
    if (draft.text.uncovered.empty()) break;
    as_calls.merge(draft.text.uncovered);
  }
  for (const fused::Step& step : draft.plan.steps)
    if (step.is_call && draft.graph.node(step.node).target == fused::kGuarded)
      return "what a convolution reads has no kernel that could watch its range";
  size_t covered = 0;
  for (const graph::NodeId id : draft.graph.order())
    covered += graph::ClassOf(draft.graph.node(id).op) == graph::OpClass::kView ? 0 : 1;
  covered -= std::min<size_t>(covered, static_cast<size_t>(draft.text.calls));
  bool maps_alone = true;
  for (const fused::Kernel& kernel : draft.plan.kernels)
    maps_alone =
        maps_alone && std::find(kernel.reduced.begin(), kernel.reduced.end(), true) == kernel.reduced.end();
  const int own = draft.text.products + draft.text.convolutions + draft.attention.count;
  if (!draft.simpler && draft.text.calls > 0 && own == 0 && !half && maps_alone &&
      covered <= draft.plan.kernels.size())
    return "every operator it has kernels for stands alone between others, so there is nothing to fuse";
  return draft;
}

RecipeAnswer Decline(std::string why) {
  return Declined{"", std::move(why)};
}

enum class GpuForm { kCuda, kCaptured, kTriton, kHalf };

// Why kernels of this form do not suit this machine, or "".
std::string WhyNotHere(const RecipeContext& context, GpuForm form) {
  const Json& machine = context.inputs.machine;
  const int64_t sm = GetInt(machine, "sm");
  if (form != GpuForm::kTriton) {
    return sm >= kLeastSm
               ? ""
               : fmt::format("its kernels are written for sm_{} and later; this is sm_{}", kLeastSm, sm);
  }
  if (!GetBool(machine, "has_triton")) return "there is no Triton here";
  if (context.inputs.target != "triton" && sm >= kLeastSm &&
      (GetBool(machine, "nvcc") || GetBool(machine, "nvrtc")))
    return "there is a CUDA compiler, and cuda/fused_graph writes the same kernels for it (--target triton "
           "asks for this one)";
  return "";
}

// The expected time of the remaining PyTorch operators at peak rates.
double OtherCallsUs(const Draft& draft, const GpuCosts& gpu) {
  double us = 0;
  for (const fused::Step& step : draft.plan.steps) {
    if (!step.is_call) continue;
    const graph::Node& node = draft.graph.node(step.node);
    if (draft.fixed[static_cast<size_t>(node.result())] || node.target == fused::kHalfConvolution) continue;
    if (graph::ClassOf(node.op) == graph::OpClass::kView || draft.chosen.count(step.node) != 0 ||
        draft.convolutions.count(step.node) != 0)
      continue;
    double bytes = static_cast<double>(draft.graph.type(node.result()).bytes());
    for (const graph::Argument& argument : node.arguments)
      graph::ForEachValue(argument.value, [&](graph::ValueId read) {
        bytes += static_cast<double>(draft.graph.type(read).bytes());
      });
    us += std::max(bytes / gpu.split_gemm.bytes_per_us,
                   graph::FlopsOf(draft.graph, node) / gpu.split_gemm.pytorch_flops_per_us);
  }
  return us;
}

Result<RecipeAnswer> ProposeForGpu(const RecipeContext& context, GpuForm form) {
  const bool in_triton = form == GpuForm::kTriton, half = form == GpuForm::kHalf;
  bool captured = form == GpuForm::kCaptured;
  if (!context.on_gpu()) return Decline("it needs a GPU");
  if ((captured || half) && context.draws)
    return Decline("forward draws random numbers, and a replay would repeat them");
  if (std::string why = WhyNotHere(context, form); !why.empty()) return Decline(std::move(why));
  GpuCosts gpu = context.costs.gpu;
  if (captured) {  // the host launches nothing
    gpu.split_gemm.call_us = gpu.split_gemm.captured_call_us;
    gpu.convolution.call_us = gpu.convolution.captured_call_us;
  }
  const std::variant<Draft, std::string> drafted =
      DraftGraph(context, in_triton ? fused::Language::kTriton : fused::Language::kCuda,
                 {gpu.processors, gpu.shared_bytes, gpu.cluster_processors},
                 !in_triton && GetInt(context.inputs.machine, "sm") == 90, gpu, half);
  if (const auto* why = std::get_if<std::string>(&drafted)) return Decline(*why);
  const Draft& draft = std::get<Draft>(drafted);
  const fused::GraphText& text = draft.text;
  CandidateParts parts;
  parts.values = text.values;
  std::vector<std::string> runtime = {"part_runtime.py", "part_cuda_driver.py", "part_fused_graph.py",
                                      "fused_cuda.py"};
  if (text.products > 0) runtime.push_back("split_product.py");
  if (text.convolutions > 0) runtime.insert(runtime.end(), {"conv_convolution.py", "conv_depthwise.py"});
  if (draft.attention.count > 0) runtime.push_back("part_attention.py");
  if (half) runtime.push_back("half_network.py");
  if (in_triton) runtime = {"part_runtime.py", "part_fused_graph.py", "fused_triton.py"};
  HONE_ASSIGN_OR_RETURN(parts.values["runtime"], RuntimeText(runtime));
  const auto eager = gpu.library.find("eager"), replayed = gpu.library.find("cuda_graph");
  const OperatorCosts others = eager == gpu.library.end() ? OperatorCosts{0, 1} : eager->second;
  const double kernels_us = text.kernel_bytes / gpu.split_gemm.bytes_per_us;
  const double rest_us = (half ? OtherCallsUs(draft, gpu)
                               : std::max(0.0, context.inputs.card.library_us - kernels_us -
                                                   text.replaced_us - draft.attention.pytorch_us)) /
                             others.share +
                         text.products_us + draft.half.us + draft.attention.us;
  const double launches = static_cast<double>(text.launches + text.calls);
  double copied = 0;
  for (const graph::ValueId value : draft.graph.ValuesOf(graph::ValueKind::kInput))
    copied += static_cast<double>(draft.graph.type(value).bytes());
  for (const graph::ValueId value : draft.graph.outputs().Leaves())
    copied += static_cast<double>(draft.graph.type(value).bytes());
  if (half) captured = copied <= gpu.graph.most_copied_bytes;
  const double all_launches =
      launches + kLaunchesOfProduct * (text.products + text.convolutions + draft.attention.count);
  if (captured && !half) {
    const double saved_us = all_launches * others.operator_us;
    if (saved_us < (kernels_us + rest_us) / 4)
      return Decline("launches are a small part of its time, so a CUDA graph around them gains nothing");
    // Inputs and outputs are both read and written once more.
    if (copied > gpu.graph.most_copied_bytes && 2 * copied / gpu.split_gemm.bytes_per_us > saved_us / 4)
      return Decline("its inputs and outputs are large, and a replayed CUDA graph would copy them");
  }
  parts.recipe = in_triton  ? "triton/fused_graph"
                 : half     ? "cuda/half_network"
                 : captured ? "cuda/fused_graph_captured"
                            : "cuda/fused_graph";
  parts.title = draft.Title();
  parts.about = in_triton ? draft.About("Triton", "what Triton refuses")
                          : draft.About("NVRTC, else nvcc", "older GPUs");
  parts.files = {"fused_model.py", "part_compiling.py", "fused_forward.py"};
  if (captured) {
    parts.title += ", replayed as a CUDA graph";
    parts.files = {"fused_model.py", "fused_captured.py", "part_kept.py",
                   "cuda_graph.py",  "part_compiling.py", "part_prepared.py"};
    parts.values.update({{"graph", true}, {"tf32", false}, {"folded", true}});
  }
  if (half) {
    std::vector<std::string> groups;
    for (const int64_t group : draft.half.groups) groups.push_back(std::to_string(group));
    parts.values.update(
        {{"recipe", parts.recipe}, {"groups", Join(groups, ", ")}, {"scales", draft.half.scales}});
    parts.about +=
        " What convolutions read is stored as fp16 in channels-last order: as many bits as TF32, to which "
        "PyTorch's own convolutions round. Where a call has values that fp16 does not hold well, or TF32 is "
        "off, the module runs as it is; to know, every call waits for its own end.";
    parts.files = {"fused_model.py", "half_words.py", "part_kept.py"};
    if (captured)
      parts.files.insert(parts.files.end(), {"half_captured.py", "cuda_graph.py"});
    else
      parts.files.push_back("half_direct.py");
    parts.files.insert(parts.files.end(), {"part_compiling.py", "half_forward.py"});
  }
  Proposal proposal;
  proposal.title = parts.title;
  proposal.why = draft.Why();
  const OperatorCosts& around = captured && replayed != gpu.library.end() ? replayed->second : others;
  proposal.predicted_us =
      std::max(1.0, gpu.fused.Us(text.bytes_by_layout) + rest_us + launches * around.operator_us);
  HONE_ASSIGN_OR_RETURN(proposal.source, WriteCandidate(context, parts));
  return RecipeAnswer(std::move(proposal));
}

}  // namespace

Result<RecipeAnswer> ProposeFusedGraph(const RecipeContext& context) {
  return ProposeForGpu(context, GpuForm::kCuda);
}

Result<RecipeAnswer> ProposeFusedGraphCaptured(const RecipeContext& context) {
  return ProposeForGpu(context, GpuForm::kCaptured);
}

Result<RecipeAnswer> ProposeHalfNetwork(const RecipeContext& context) {
  return ProposeForGpu(context, GpuForm::kHalf);
}

Result<RecipeAnswer> ProposeTritonFusedGraph(const RecipeContext& context) {
  return ProposeForGpu(context, GpuForm::kTriton);
}

Result<RecipeAnswer> ProposeCpuFusedGraph(const RecipeContext& context) {
  if (context.on_gpu()) return Decline("it is for the CPU");
  if (!GetBool(context.inputs.machine, "gxx"))
    return Decline("there is no C++ compiler to build the kernels with");
  const std::variant<Draft, std::string> drafted =
      DraftGraph(context, fused::Language::kCpp, {context.threads(), 0, {}}, false, context.costs.gpu);
  if (const auto* why = std::get_if<std::string>(&drafted)) return Decline(*why);
  const Draft& draft = std::get<Draft>(drafted);
  CandidateParts parts;
  parts.values = draft.text.values;
  HONE_ASSIGN_OR_RETURN(parts.values["runtime"], RuntimeText({"part_runtime.py", "part_cpu_build.py",
                                                              "part_fused_graph.py", "fused_cpu.py"}));
  parts.recipe = "cpu/fused_graph";
  parts.title = draft.Title();
  parts.about = draft.About("g++, else clang++", "no compiler");
  parts.files = {"part_kept.py", "fused_model.py", "part_compiling.py", "fused_forward.py"};
  Proposal proposal;
  proposal.title = parts.title;
  proposal.why = draft.Why();
  const Card& card = context.inputs.card;
  const FusedCpuCosts& costs = context.costs.cpu.fused;
  const auto library = context.costs.cpu.library.find("cpu_inference_mode");
  if (card.floor_us > 0 && library != context.costs.cpu.library.end()) {
    // Uses the rate behind the floor, which may be a cache's rate.
    const double kernels_us = card.floor_us * draft.text.kernel_bytes /
                              static_cast<double>(std::max<int64_t>(1, card.least_bytes()));
    const double rest_us = std::max(0.0, card.floor_us - kernels_us) / library->second.share;
    proposal.predicted_us =
        std::max(1.0, kernels_us / costs.share + rest_us + draft.text.launches * costs.kernel_us +
                          draft.text.calls * library->second.operator_us);
  }
  HONE_ASSIGN_OR_RETURN(proposal.source, WriteCandidate(context, parts));
  return RecipeAnswer(std::move(proposal));
}

}  // namespace hone

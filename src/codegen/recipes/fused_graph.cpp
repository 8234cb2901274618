// The task's graph with everything that is bound by memory in fused kernels: maps, reductions, norms,
// softmax, losses. On Hopper, products of float32 matrices run on the fp16 tensor cores (fused/product.h).
// Convolutions and whatever else has no emitter stay ATen's calls.
#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "base/text.h"
#include "codegen/candidate_text.h"
#include "codegen/fused/graph_text.h"
#include "codegen/recurrent_text.h"
#include "graph/rewrites/rewrite.h"

namespace hone {

namespace {

// A graph's replay copies inputs and outputs; beyond this they cost more than launches do.
constexpr double kMostCopiedBytes = 64e6;

// The graph as kernels and calls, or one sentence why not.
struct Draft {
  graph::Graph graph;
  fused::Plan plan;
  fused::GraphText text;
  std::vector<std::string> rules;  // that simplified the graph

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
    parts.push_back(count(static_cast<size_t>(text.calls), "call") + " of ATen");
    return "The graph in " + Join({parts.begin(), parts.end() - 1}, ", ") + " and " + parts.back();
  }
  // What the docstring of the file says; `compiled` and `uncovered` belong to the device.
  std::string About(const std::string& compiled, const std::string& uncovered) const {
    return "Kernels: " + Join(text.about, "; ") + RulesText(". The graph was simplified first by ") +
           ". They are compiled on first use (" + compiled +
           "), kept, and written for the task's shapes. Weights are read where they lie; what follows from "
           "weights alone is computed once, and again when they change. What the kernels do not cover "
           "(gradients, other shapes or dtypes, train mode, autocast, " +
           uncovered + ") runs in PyTorch as before.";
  }
  std::string Why() const {
    std::string why = "operators that only move memory run together: ";
    if (text.products > 0)
      why = "PyTorch multiplies float32 outside of the tensor cores" +
            std::string(plan.kernels.empty() ? ": " : ", and " + why);
    return why + Join(text.about, "; ") + RulesText("; simplified by ");
  }
};

// `products`: whether Hone's kernel for products runs on the device.
std::variant<Draft, std::string> DraftGraph(const RecipeContext& context, fused::Language language,
                                            const fused::EmitterDevice& device, bool products) {
  if (std::string why = WhyNoGraph(context.inputs); !why.empty()) return why;
  Draft draft;
  draft.graph = *context.inputs.graph;
  const Result<std::vector<graph::AppliedRewrite>> simplified = graph::ApplyRewrites(draft.graph);
  if (!simplified.ok()) return "the graph could not be simplified: " + simplified.error().message;
  for (const graph::AppliedRewrite& rewrite : *simplified) draft.rules.push_back(rewrite.name);
  std::set<graph::NodeId> as_calls;
  std::map<graph::NodeId, fused::Product> chosen;
  if (products) chosen = fused::ChooseProducts(draft.graph, context.costs.gpu);
  while (true) {
    draft.plan = fused::DivideIntoKernels(draft.graph, as_calls);
    if (draft.plan.kernels.empty() && chosen.empty()) return "no operator of the graph has an emitter";
    Result<fused::GraphText> text = fused::WriteGraph(draft.graph, draft.plan, language, device, chosen);
    if (!text.ok()) return text.error().message;
    draft.text = std::move(*text);
    if (draft.text.uncovered.empty()) break;
    as_calls.merge(draft.text.uncovered);
  }
  size_t covered = 0;
  for (const graph::NodeId id : draft.graph.order())
    covered += graph::ClassOf(draft.graph.node(id).op) == graph::OpClass::kView ? 0 : 1;
  covered -= std::min<size_t>(covered, static_cast<size_t>(draft.text.calls));
  bool maps_alone = true;
  for (const fused::Kernel& kernel : draft.plan.kernels)
    maps_alone =
        maps_alone && std::find(kernel.reduced.begin(), kernel.reduced.end(), true) == kernel.reduced.end();
  if (draft.text.calls > 0 && draft.text.products == 0 && maps_alone && covered <= draft.plan.kernels.size())
    return "every operator it has kernels for stands alone between others, so there is nothing to fuse";
  return draft;
}

RecipeAnswer Decline(std::string why) {
  return Declined{"", std::move(why)};
}

enum class GpuForm { kCuda, kCaptured, kTriton };

// Why kernels of this form are not for this machine, or "".
std::string WhyNotHere(const RecipeContext& context, GpuForm form) {
  const Json& machine = context.inputs.machine;
  if (form != GpuForm::kTriton) {
    const int64_t sm = GetInt(machine, "sm");
    return sm >= 90 ? "" : fmt::format("its kernels are written for sm_90 and later; this is sm_{}", sm);
  }
  if (!GetBool(machine, "has_triton")) return "there is no Triton here";
  if (context.inputs.target != "triton" && (GetBool(machine, "nvcc") || GetBool(machine, "nvrtc")))
    return "there is a CUDA compiler, and cuda/fused_graph writes the same kernels for it (--target triton "
           "asks for this one)";
  return "";
}

Result<RecipeAnswer> ProposeForGpu(const RecipeContext& context, GpuForm form) {
  const bool captured = form == GpuForm::kCaptured, in_triton = form == GpuForm::kTriton;
  if (!context.on_gpu()) return Decline("it needs a GPU");
  if (captured && context.draws)
    return Decline("forward draws random numbers, and a replay would repeat them");
  if (std::string why = WhyNotHere(context, form); !why.empty()) return Decline(std::move(why));
  const GpuCosts& gpu = context.costs.gpu;
  const std::variant<Draft, std::string> drafted =
      DraftGraph(context, in_triton ? fused::Language::kTriton : fused::Language::kCuda,
                 {gpu.processors, gpu.shared_bytes, gpu.cluster_processors},
                 !in_triton && GetInt(context.inputs.machine, "sm") == 90);
  if (const auto* why = std::get_if<std::string>(&drafted)) return Decline(*why);
  const Draft& draft = std::get<Draft>(drafted);
  const fused::GraphText& text = draft.text;
  CandidateParts parts;
  parts.values = text.values;
  std::vector<std::string> runtime = {"part_runtime.py", "part_cuda_driver.py", "part_fused_graph.py",
                                      "fused_cuda.py"};
  if (text.products > 0) runtime.push_back("split_product.py");
  if (in_triton) runtime = {"part_runtime.py", "part_fused_graph.py", "fused_triton.py"};
  HONE_ASSIGN_OR_RETURN(parts.values["runtime"], RuntimeText(runtime));
  const auto eager = gpu.library.find("eager"), replayed = gpu.library.find("cuda_graph");
  const OperatorCosts others = eager == gpu.library.end() ? OperatorCosts{0, 1} : eager->second;
  const double kernels_us = text.kernel_bytes / gpu.split_gemm.bytes_per_us;
  const double rest_us =
      std::max(0.0, context.inputs.card.floor_us - kernels_us - text.replaced_us) / others.share +
      text.products_us;
  const double launches = static_cast<double>(text.launches + text.calls);
  double copied = 0;
  for (const graph::ValueId value : draft.graph.ValuesOf(graph::ValueKind::kInput))
    copied += static_cast<double>(draft.graph.type(value).bytes());
  for (const graph::ValueId value : draft.graph.outputs().Leaves())
    copied += static_cast<double>(draft.graph.type(value).bytes());
  if (captured && copied > kMostCopiedBytes)
    return Decline("its inputs and outputs are large, and a replayed CUDA graph would copy them");
  if (captured && launches * others.operator_us < (kernels_us + rest_us) / 4)
    return Decline("launches are a small part of its time, so a CUDA graph around them gains nothing");
  parts.recipe = in_triton  ? "triton/fused_graph"
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
  Proposal proposal;
  proposal.title = parts.title;
  proposal.why = draft.Why();
  const OperatorCosts& around = captured && replayed != gpu.library.end() ? replayed->second : others;
  proposal.predicted_us = std::max(1.0, kernels_us + rest_us + launches * around.operator_us);
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

Result<RecipeAnswer> ProposeTritonFusedGraph(const RecipeContext& context) {
  return ProposeForGpu(context, GpuForm::kTriton);
}

Result<RecipeAnswer> ProposeCpuFusedGraph(const RecipeContext& context) {
  if (context.on_gpu()) return Decline("it is for the CPU");
  if (!GetBool(context.inputs.machine, "gxx"))
    return Decline("there is no C++ compiler to build the kernels with");
  const std::variant<Draft, std::string> drafted =
      DraftGraph(context, fused::Language::kCpp, {context.threads(), 0, {}}, false);
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
    // At the rate that the floor rests on, which may be a cache's.
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

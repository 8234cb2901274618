// Runs large linear layers at float32 accuracy on Hopper's fp16 tensor cores: every number as two fp16 terms,
// three products into one accumulator, in a quarter of the time of PyTorch's float32 product. Layers with few
// rows are bound by reading the weight, which has the same size when split, so they stay with PyTorch. So
// does the whole module if it may use TF32.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "codegen/candidate_text.h"
#include "codegen/recurrent_text.h"
#include "codegen/split_cost.h"

namespace hone {

namespace {

std::string Shape(const Json& layer) {
  return fmt::format("{} ({} x {} -> {})", GetString(layer, "path"), GetInt(layer, "rows"),
                     GetInt(layer, "in_features"), GetInt(layer, "out_features"));
}

}  // namespace

Result<RecipeAnswer> ProposeSplitGemm(const RecipeContext& context) {
  const auto decline = [](std::string why) { return RecipeAnswer(Declined{"", std::move(why)}); };
  if (!context.on_gpu()) return decline("it needs a GPU");
  if (context.linears == 0) return decline("it has no linear layers");
  if (const int64_t sm = GetInt(context.inputs.machine, "sm"); sm != 90)
    return decline(fmt::format("it is written for Hopper's tensor cores (sm_90); this is sm_{}", sm));
  const GpuCosts& gpu = context.costs.gpu;
  Json adopted = Json::array();
  std::vector<std::string> shapes;
  std::string best_refused = "no linear layer of PyTorch's own in float32 is called";
  double ours_us = 0;
  double replaced_us = 0;
  double closest = 0;
  for (const Json& layer : GetMember(context.inputs.facts, "module_list")) {
    const auto rows = static_cast<double>(GetInt(layer, "rows"));
    if (GetString(layer, "type") != "Linear" || !GetBool(layer, "of_torch") || rows == 0 ||
        GetString(layer, "dtype") != "float32")
      continue;
    const auto units = static_cast<double>(GetInt(layer, "out_features")),
               width = static_cast<double>(GetInt(layer, "in_features"));
    const SplitProductCost cost =
        CostOfSplitProduct({rows, units, width, 1, rows * width, units * width}, gpu);
    if (!cost.pays) {
      if (cost.pytorch_us / cost.ours_us > closest) {
        closest = cost.pytorch_us / cost.ours_us;
        best_refused =
            fmt::format("no linear layer is large enough: {} would take {:.0f} us, PyTorch's {:.0f} us",
                        Shape(layer), cost.ours_us, cost.pytorch_us);
      }
      continue;
    }
    const auto calls = static_cast<double>(std::max<int64_t>(1, GetInt(layer, "calls")));
    ours_us += calls * cost.ours_us;
    replaced_us += calls * cost.pytorch_us;
    adopted.push_back({{"path", GetString(layer, "path")}});
    shapes.push_back(Shape(layer));
  }
  if (adopted.empty()) return decline(best_refused);
  const Card& card = context.inputs.card;
  const int64_t operators = card.launches > 0 ? card.launches : card.operator_calls();
  const auto eager = gpu.library.find("eager");  // layers that are not replaced
  const OperatorCosts others = eager == gpu.library.end() ? OperatorCosts{0, 1} : eager->second;
  CandidateParts parts;
  parts.values["layers"] = adopted;
  HONE_ASSIGN_OR_RETURN(parts.values["runtime"],
                        RuntimeText({"part_runtime.py", "part_cuda_driver.py", "split_gemm.py"}));
  parts.recipe = "cuda/split_gemm";
  parts.title = "Large linear layers as three fp16 products on the tensor cores, at float32's accuracy";
  parts.about = "Taken over: " + Join(shapes, ", ") +
                ". The weight of each is kept a second time, split, on the device. The kernel below is "
                "compiled on first "
                "use (NVRTC, else nvcc) and kept. What it does not cover or speed up (gradients, other "
                "dtypes, few rows, "
                "other GPUs, TF32 allowed) runs in PyTorch as before.";
  parts.files = {"split_gemm_model.py"};
  Proposal proposal;
  proposal.title = parts.title;
  proposal.why = "PyTorch multiplies float32 outside of the tensor cores: " + Join(shapes, ", ");
  proposal.predicted_us = ours_us + std::max(0.0, card.library_us - replaced_us) / others.share +
                          static_cast<double>(operators) * others.operator_us;
  HONE_ASSIGN_OR_RETURN(proposal.source, WriteCandidate(context, parts));
  return RecipeAnswer(std::move(proposal));
}

}  // namespace hone

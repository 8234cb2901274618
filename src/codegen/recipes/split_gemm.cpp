// Large linear layers at float32's accuracy on Hopper's fp16 tensor cores: every number as two fp16 terms,
// three products into one accumulator. Twenty times cuBLAS's float32 rate is there, a third of it is used up
// by the products. Layers with few rows are bound by reading the weight, which is as large split as whole:
// those stay with PyTorch, as does everything when the module may use TF32 anyway.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "codegen/candidate_text.h"
#include "codegen/recurrent_text.h"

namespace hone {

namespace {

// Measured on an H200; templates/split_gemm.py decides by the same figures, call by call.
constexpr double kPyTorchFlops = 50e12;
constexpr double kProductFlops = 600e12;
constexpr double kBytes = 4e12;
constexpr double kCallUs = 12;
constexpr double kWorthIt = 0.8;  // of PyTorch's time
constexpr double kProcessors = 132;
constexpr int64_t kTile = 128;
constexpr int64_t kDepth = 32;

// What is not taken over: an operator's launch, and the share of the ceiling that operators reach.
constexpr double kOperatorUs = 6;
constexpr double kOperatorShare = 0.6;

struct LayerCost {
  double ours_us = 0;
  double pytorch_us = 0;
};

LayerCost CostOf(double rows, double units, double width) {
  const auto up = [](double value, double by) { return std::ceil(value / by); };
  const double tiles = up(rows, kTile) * up(units, kTile);
  const double blocks = up(width, kDepth);
  double product_us = 0;
  for (double parts = 1; parts <= std::clamp(std::floor(blocks / 32), 1.0, 16.0); ++parts) {
    const double waves = up(tiles * parts, kProcessors);
    const double flops = 6.0 * kTile * kTile * kDepth * up(blocks, parts) * waves * kProcessors;
    double us = flops / kProductFlops * 1e6;
    if (parts > 1) us += 2 * parts * rows * units * 4 / kBytes * 1e6 + 4;
    if (parts == 1 || us < product_us) product_us = us;
  }
  const double weight_us = 4 * units * width / kBytes * 1e6;
  return {kCallUs + 16 * rows * width / kBytes * 1e6 + std::max(product_us, weight_us),
          std::max(2 * rows * units * width / kPyTorchFlops * 1e6, weight_us)};
}

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
    const LayerCost cost = CostOf(rows, static_cast<double>(GetInt(layer, "out_features")),
                                  static_cast<double>(GetInt(layer, "in_features")));
    if (cost.ours_us > kWorthIt * cost.pytorch_us) {
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
  CandidateParts parts;
  parts.values["layers"] = adopted;
  HONE_ASSIGN_OR_RETURN(parts.values["runtime"],
                        RuntimeText({"split_gemm.py"}, {"part_cuda_driver.py", "split_gemm.cu"}));
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
  proposal.predicted_us = ours_us + std::max(0.0, card.floor_us - replaced_us) / kOperatorShare +
                          static_cast<double>(operators) * kOperatorUs;
  HONE_ASSIGN_OR_RETURN(proposal.source, WriteCandidate(context, parts));
  return RecipeAnswer(std::move(proposal));
}

}  // namespace hone

// Maps of operands with stride 1 along different axes, such as an image in channels-last order and one in the
// usual order. Uses a tile in shared memory, so that both reads and writes follow rows.
#include "base/json.h"
#include "codegen/fused/emit_cuda.h"

namespace hone::fused {

namespace {

constexpr int64_t kSide = 64;       // side of a tile; SIDE of fused_tiled.cu
constexpr int64_t kLeastSide = 16;  // minimum side of the domain; a tile of a smaller one is mostly empty
constexpr int64_t kMostFar = 2;     // tiles that fit in 48 KB
constexpr int64_t kLeastPoints = int64_t{1} << 16;

}  // namespace

// The axis with stride 1 for large operands whose stride is not 1 along the innermost axis.
std::optional<size_t> CudaEmitter::FarAxis(const std::vector<int>& reads) const {
  const size_t q = sizes_.size() - 1;
  if (sizes_.size() < 2 || sizes_[q] < kLeastSide || sizes_[q] >= kMostIndex / kSide ||
      graph::ElementsOf(sizes_) < kLeastPoints)
    return std::nullopt;
  std::optional<size_t> axis;
  int64_t count = 0;
  for (const int i : reads) {
    if (at(i).kind != ItemKind::kTensor) return std::nullopt;
    if (!Streams(i) || load(i)[q] == 1 || load(i)[q] == 0) continue;
    for (size_t p = 0; p < q; ++p)
      if (load(i)[p] == 1 && sizes_[p] >= kLeastSide && sizes_[p] < kMostIndex / kSide) {
        if (axis && *axis != p) return std::nullopt;
        axis = p;
        ++count;
      }
  }
  for (const Strides& strides : stores_)
    if (strides[q] != 1) return std::nullopt;
  return count <= kMostFar ? axis : std::nullopt;
}

Status CudaEmitter::Tiled(size_t p, const std::vector<int>& reads, const std::vector<int>& statements) {
  out_.layout = "tiled";
  const size_t q = sizes_.size() - 1;
  const auto around = [&](const Strides& strides) {
    std::vector<Step1> steps;
    for (size_t d = 0; d < q; ++d)
      if (d != p) steps.push_back({sizes_[d], strides[d]});
    return steps.empty() ? std::string("0") : Offset(steps, "o");
  };
  // Whether neighbours along `d` can be accessed in pairs.
  const auto pairs = [&](const Strides& strides, size_t d, int64_t start) {
    if (sizes_[d] % 2 != 0 || start % 2 != 0) return false;
    return SideBySide(strides, d, 2);
  };
  int64_t outside = 1;
  for (size_t d = 0; d < q; ++d)
    if (d != p) outside *= sizes_[d];
  Json inputs = Json::array(), outputs = Json::array(), lines = Json::array();
  for (const int i : reads) {
    const Strides& strides = load(i);
    const bool far = Streams(i) && strides[q] != 1 && strides[q] != 0 && strides[p] == 1;
    const bool paired = pairs(strides, far ? p : q, at(i).start);
    Json input = Operand(i);
    if (paired) NeedAlignment(GetString(input, "pointer"), 2 * graph::BytesOf(item(i).dtype));
    input.update({{"far", far},
                  {"pairs", paired},
                  {"step_p", strides[p]},
                  {"step_q", strides[q]},
                  {"at", FromStart(i, around(strides))}});
    inputs.push_back(input);
  }
  for (const int i : statements) lines.push_back(printer_.Statement(i));
  for (size_t i = 0; i < kernel_.outputs.size(); ++i) {
    Json output = MapOutput(i, !inputs.empty(), &lines);
    output.update(
        {{"pairs", pairs(stores_[i], q, 0)}, {"step_p", stores_[i][p]}, {"at", around(stores_[i])}});
    outputs.push_back(output);
  }
  const int64_t tiles_p = Up(sizes_[p], kSide), tiles_q = Up(sizes_[q], kSide);
  values_.update({{"size_p", sizes_[p]},
                  {"size_q", sizes_[q]},
                  {"tiles_q", tiles_q},
                  {"tiles_p", tiles_p},
                  {"tiles", tiles_p * tiles_q},
                  {"inputs", inputs},
                  {"outputs", outputs},
                  {"lines", lines},
                  {"entry", kKernelName}});
  Launch launch;
  launch.entry = kKernelName;
  launch.threads = 256;
  launch.blocks = tiles_p * tiles_q * outside;
  out_.launches = {launch};
  return Render("fused_tiled.cu", {{"compute_text", "part_fused_compute.cu"}});
}

}  // namespace hone::fused

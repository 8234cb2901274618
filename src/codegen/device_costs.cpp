#include "codegen/device_costs.h"

#include <fmt/format.h>

#include "codegen/candidate_text.h"

namespace hone {

namespace {

constexpr const char* kRemark = "about";

// Reads figures and records the first missing one, so that reading a struct is a list of fields.
class Figures {
 public:
  Figures(const Json& json, std::string path, std::string* missing)
      : json_(json), path_(std::move(path)), missing_(missing) {}

  double Number(const char* key) const {
    const Json& value = GetMember(json_, key);
    if (!value.is_number()) Miss(key);
    return value.is_number() ? value.get<double>() : 0;
  }
  int64_t Int(const char* key) const { return static_cast<int64_t>(Number(key)); }
  Figures Section(const char* key) const {
    const Json& value = GetMember(json_, key);
    if (!value.is_object()) Miss(key);
    return Figures(value, path_ + key + ".", missing_);
  }
  LibraryCosts Library() const {
    LibraryCosts costs;
    if (!json_.is_object()) return costs;
    for (const auto& [name, unused] : json_.items()) {
      if (name == kRemark) continue;
      const Figures one = Section(name.c_str());
      costs[name] = {one.Number("operator_us"), one.Number("share")};
    }
    return costs;
  }

 private:
  void Miss(const char* key) const {
    if (missing_->empty()) *missing_ = path_ + key;
  }

  const Json& json_;
  std::string path_;
  std::string* missing_;
};

ClusterHidden ReadHidden(const Figures& at) {
  return {at.Int("of_8"), at.Int("of_16")};
}

ClusterCell ReadCell(const Figures& file, const char* kind) {
  const Figures step = file.Section("cluster").Section("step_us").Section(kind);
  const Figures hidden = file.Section("cluster_hidden").Section(kind);
  ClusterCell cell;
  cell.wavefront_us = step.Number("wavefront");
  cell.both_us = step.Number("both");
  cell.precise_us = step.Number("precise");
  cell.stacked = ReadHidden(hidden.Section("stacked"));
  cell.single = ReadHidden(hidden.Section("single"));
  cell.precise_stacked = ReadHidden(hidden.Section("precise_stacked"));
  cell.precise_single = ReadHidden(hidden.Section("precise_single"));
  return cell;
}

ClusterCosts ReadCluster(const Figures& file) {
  const Figures at = file.Section("cluster");
  ClusterCosts costs;
  costs.sequences = at.Int("sequences");
  costs.resident_of_8 = at.Section("resident").Int("of_8");
  costs.resident_of_16 = at.Section("resident").Int("of_16");
  costs.call_us = at.Number("call_us");
  costs.gru = ReadCell(file, "GRU");
  costs.lstm = ReadCell(file, "LSTM");
  costs.rnn = ReadCell(file, "RNN");
  return costs;
}

GridCosts ReadGrid(const Figures& at) {
  GridCosts costs;
  costs.chain_us = at.Number("chain_us");
  costs.phase_us = at.Number("phase_us");
  costs.round_us = at.Number("round_us");
  costs.l2_kb_us = at.Number("l2_kb_us");
  costs.l2_ctas = at.Number("l2_ctas");
  costs.mma_us = at.Number("mma_us");
  costs.mma_alone_us = at.Number("mma_alone_us");
  costs.partial_kb_us = at.Number("partial_kb_us");
  costs.shared_kb_us = at.Number("shared_kb_us");
  costs.call_us = at.Number("call_us");
  costs.launch_us = at.Number("launch_us");
  costs.product_us = at.Number("product_us");
  costs.half_flops_per_us = at.Number("half_flops_per_us");
  costs.tf32_flops_per_us = at.Number("tf32_flops_per_us");
  costs.clear_bytes_per_us = at.Number("clear_bytes_per_us");
  costs.exchange_bytes = at.Number("exchange_bytes");
  costs.registers = at.Int("registers");
  costs.spare_registers = at.Int("spare_registers");
  costs.round_registers = at.Int("round_registers");
  costs.phase_registers = at.Int("phase_registers");
  costs.most_blocks = at.Int("most_blocks");
  return costs;
}

StepGraphCosts ReadStepGraph(const Figures& at) {
  StepGraphCosts costs;
  costs.chain_us = at.Number("chain_us");
  costs.mb_us = at.Number("mb_us");
  costs.gflop_us = at.Number("gflop_us");
  costs.call_us = at.Number("call_us");
  costs.most_steps = at.Int("most_steps");
  costs.most_sequences = at.Int("most_sequences");
  costs.hidden_multiple = at.Int("hidden_multiple");
  return costs;
}

CudnnCosts ReadCudnn(const Figures& at) {
  CudnnCosts costs;
  costs.small_us = at.Number("small_us");
  costs.small_hidden = at.Int("small_hidden");
  costs.medium_us = at.Number("medium_us");
  costs.medium_hidden = at.Int("medium_hidden");
  costs.beside_us = at.Number("beside_us");
  costs.alone_us = at.Number("alone_us");
  costs.mb_us = at.Number("mb_us");
  costs.sequence_us = at.Number("sequence_us");
  costs.l2_mb = at.Number("l2_mb");
  costs.beyond_us = at.Number("beyond_us");
  costs.beyond_mb_us = at.Number("beyond_mb_us");
  return costs;
}

SplitGemmCosts ReadSplitGemm(const Figures& at) {
  SplitGemmCosts costs;
  costs.tile = at.Int("tile");
  costs.depth = at.Int("depth");
  costs.pytorch_flops_per_us = at.Number("pytorch_flops_per_us");
  costs.product_flops_per_us = at.Number("product_flops_per_us");
  costs.bytes_per_us = at.Number("bytes_per_us");
  costs.call_us = at.Number("call_us");
  costs.captured_call_us = at.Number("captured_call_us");
  costs.sum_us = at.Number("sum_us");
  costs.tile_us = at.Number("tile_us");
  costs.split_bytes = at.Number("split_bytes");
  costs.across_bytes = at.Number("across_bytes");
  costs.of_pytorch = at.Number("of_pytorch");
  costs.most_parts = at.Int("most_parts");
  costs.blocks_per_part = at.Int("blocks_per_part");
  costs.few_rows = at.Int("few_rows");
  costs.filled_rows = at.Int("filled_rows");
  return costs;
}

ConvolutionCosts ReadConvolution(const Figures& at) {
  ConvolutionCosts costs;
  costs.product_flops_per_us = at.Number("product_flops_per_us");
  costs.bytes_per_us = at.Number("bytes_per_us");
  costs.depthwise_bytes_per_us = at.Number("depthwise_bytes_per_us");
  costs.call_us = at.Number("call_us");
  costs.overlap = at.Number("overlap");
  costs.few_waste = at.Number("few_waste");
  costs.of_pytorch = at.Number("of_pytorch");
  costs.pytorch_flops_per_us = at.Number("pytorch_flops_per_us");
  costs.pytorch_passes = at.Number("pytorch_passes");
  costs.captured_call_us = at.Number("captured_call_us");
  costs.pytorch_few_flops_per_us = at.Number("pytorch_few_flops_per_us");
  costs.pytorch_groups_flops_per_us = at.Number("pytorch_groups_flops_per_us");
  costs.pytorch_depthwise_bytes_per_us = at.Number("pytorch_depthwise_bytes_per_us");
  costs.pytorch_depthwise_flops_per_us = at.Number("pytorch_depthwise_flops_per_us");
  return costs;
}

Result<Json> DeviceFile(const std::string& name) {
  HONE_ASSIGN_OR_RETURN(const std::string_view text, EmbeddedText("devices/" + name));
  return ParseJson(text).WithContext(name);
}

Json WithoutRemarks(const Json& json) {
  if (!json.is_object()) return json;
  Json kept = Json::object();
  for (const auto& [key, value] : json.items())
    if (key != kRemark) kept[key] = WithoutRemarks(value);
  return kept;
}

}  // namespace

double FusedGpuCosts::Us(const std::map<std::string, double>& bytes_by_layout) const {
  double us = 0;
  for (const auto& [layout, bytes] : bytes_by_layout) {
    const auto found = share.find(layout);
    us += bytes / (copy_bytes_per_us * (found == share.end() ? share.at("pointwise") : found->second));
  }
  return us;
}

Result<DeviceCosts> LoadDeviceCosts() {
  HONE_ASSIGN_OR_RETURN(const Json gpu_file, DeviceFile("h200.json"));
  HONE_ASSIGN_OR_RETURN(const Json cpu_file, DeviceFile("cpu.json"));
  return ReadDeviceCosts(gpu_file, cpu_file);
}

double LaunchUs() {
  static const Result<DeviceCosts> costs = LoadDeviceCosts();
  return costs.ok() ? costs->gpu.graph.launch_us : 0;  // a binary without its own files says so elsewhere
}

Result<DeviceCosts> ReadDeviceCosts(const Json& gpu_file, const Json& cpu_file) {
  std::string missing;
  const Figures gpu(gpu_file, "h200.json: ", &missing), cpu(cpu_file, "cpu.json: ", &missing);
  DeviceCosts costs;
  costs.gpu.processors = gpu.Section("device").Int("processors");
  costs.gpu.shared_bytes = gpu.Section("device").Int("shared_bytes");
  for (size_t i = 0; i < costs.gpu.cluster_processors.size(); ++i)
    costs.gpu.cluster_processors[i] =
        gpu.Section("device").Section("cluster_processors").Int(fmt::format("of_{}", 2 << i).c_str());
  costs.gpu.cluster = ReadCluster(gpu);
  costs.gpu.grid = ReadGrid(gpu.Section("grid"));
  costs.gpu.generous_step_us = gpu.Section("analysis").Number("generous_step_us");
  costs.gpu.step = ReadStepGraph(gpu.Section("step"));
  costs.gpu.cudnn = ReadCudnn(gpu.Section("cudnn"));
  costs.gpu.of_pytorch = gpu.Section("choice").Number("of_pytorch");
  costs.gpu.split_gemm = ReadSplitGemm(gpu.Section("split_gemm"));
  costs.gpu.product.pytorch_tile = gpu.Section("product").Number("pytorch_tile");
  costs.gpu.product.least_filled = gpu.Section("product").Number("least_filled");
  costs.gpu.graph.launch_us = gpu.Section("graph").Number("launch_us");
  costs.gpu.graph.most_copied_bytes = gpu.Section("graph").Number("most_copied_bytes");
  const Figures fused = gpu.Section("fused");
  costs.gpu.fused.copy_bytes_per_us = fused.Number("copy_bytes_per_us");
  for (const char* layout : {"pointwise", "row", "resident", "split", "column", "scan", "pool"})
    costs.gpu.fused.share[layout] = fused.Number(layout);
  costs.gpu.convolution = ReadConvolution(gpu.Section("convolution"));
  costs.gpu.triton.wavefront_step_us = gpu.Section("triton").Number("wavefront_step_us");
  costs.gpu.triton.layer_step_us = gpu.Section("triton").Number("layer_step_us");
  costs.gpu.triton.most_hidden = gpu.Section("triton").Int("most_hidden");
  costs.gpu.library = gpu.Section("library").Library();
  costs.cpu.fused.share = cpu.Section("fused").Number("share");
  costs.cpu.fused.kernel_us = cpu.Section("fused").Number("kernel_us");
  costs.cpu.persistent_share = cpu.Section("persistent").Number("share");
  costs.cpu.persistent_step_us = cpu.Section("persistent").Number("step_us");
  costs.cpu.library = cpu.Section("library").Library();
  if (!missing.empty()) return Error{ErrorKind::kInternal, missing + " is missing or is no number"};
  return costs;
}

Result<std::string> DeviceSection(const std::string& reference) {
  const size_t colon = reference.find(':');
  if (colon == std::string::npos) return Error{ErrorKind::kInternal, reference + " names no section"};
  HONE_ASSIGN_OR_RETURN(const Json file, DeviceFile(reference.substr(0, colon)));
  const Json& section = GetMember(file, reference.substr(colon + 1).c_str());
  if (!section.is_object()) return Error{ErrorKind::kInternal, "there is no section " + reference};
  return DumpJson(WithoutRemarks(section));
}

}  // namespace hone

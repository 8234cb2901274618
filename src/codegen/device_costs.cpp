#include "codegen/device_costs.h"

#include <fmt/format.h>

#include <utility>
#include <variant>

#include "base/text.h"
#include "codegen/candidate_text.h"

namespace hone {

namespace {

constexpr const char* kRemark = "about";

// The member of a path with dots, such as "resident.of_8". Null if there is none.
const Json& At(const Json& json, std::string_view path) {
  const Json* at = &json;
  for (const std::string& key : Split(path, '.')) at = &GetMember(*at, key);
  return *at;
}

// Reads figures and records the first missing one, so that reading a struct is a list of its members.
class Figures {
 public:
  Figures(const Json& json, std::string path, std::string* missing)
      : json_(json), path_(std::move(path)), missing_(missing) {}

  double Number(const std::string& key) const {
    const Json& value = At(json_, key);
    if (!value.is_number()) Miss(key);
    return value.is_number() ? value.get<double>() : 0;
  }
  Figures Section(const std::string& key) const {
    const Json& value = At(json_, key);
    if (!value.is_object()) Miss(key);
    return Figures(value, path_ + key + ".", missing_);
  }
  LibraryCosts Library() const;

 private:
  void Miss(const std::string& key) const {
    if (missing_->empty()) *missing_ = path_ + key;
  }

  const Json& json_;
  std::string path_;
  std::string* missing_;
};

// One line per member: its figure's path within a section, and the member.
template <class Costs>
struct Figure {
  const char* path;
  std::variant<double Costs::*, int64_t Costs::*> member;
};

template <class Costs, size_t kCount>
void Read(const Figures& at, const Figure<Costs> (&list)[kCount], Costs* costs) {
  for (const Figure<Costs>& figure : list)
    std::visit(
        [&](auto member) {
          using Value = std::decay_t<decltype(costs->*member)>;
          costs->*member = static_cast<Value>(at.Number(figure.path));
        },
        figure.member);
}

// For structs of figures only. A member without a line does not compile.
template <class Costs, size_t kCount>
void ReadAll(const Figures& at, const Figure<Costs> (&list)[kCount], Costs* costs) {
  static_assert(sizeof(Costs) == kCount * sizeof(double));
  Read(at, list, costs);
}

constexpr Figure<ClusterHidden> kHidden[] = {
    {"of_8", &ClusterHidden::of_8},
    {"of_16", &ClusterHidden::of_16},
};
constexpr Figure<ClusterCell> kClusterSteps[] = {
    {"wavefront", &ClusterCell::wavefront_us},
    {"both", &ClusterCell::both_us},
    {"precise", &ClusterCell::precise_us},
};
constexpr std::pair<const char*, ClusterHidden ClusterCell::*> kClusterHidden[] = {
    {"stacked", &ClusterCell::stacked},
    {"single", &ClusterCell::single},
    {"precise_stacked", &ClusterCell::precise_stacked},
    {"precise_single", &ClusterCell::precise_single},
};
constexpr Figure<ClusterCosts> kCluster[] = {
    {"sequences", &ClusterCosts::sequences},
    {"resident.of_8", &ClusterCosts::resident_of_8},
    {"resident.of_16", &ClusterCosts::resident_of_16},
    {"call_us", &ClusterCosts::call_us},
};
constexpr std::pair<const char*, ClusterCell ClusterCosts::*> kClusterCells[] = {
    {"GRU", &ClusterCosts::gru},
    {"LSTM", &ClusterCosts::lstm},
    {"RNN", &ClusterCosts::rnn},
};
constexpr Figure<GridCosts> kGrid[] = {
    {"chain_us", &GridCosts::chain_us},
    {"phase_us", &GridCosts::phase_us},
    {"round_us", &GridCosts::round_us},
    {"l2_kb_us", &GridCosts::l2_kb_us},
    {"l2_ctas", &GridCosts::l2_ctas},
    {"mma_us", &GridCosts::mma_us},
    {"mma_alone_us", &GridCosts::mma_alone_us},
    {"partial_kb_us", &GridCosts::partial_kb_us},
    {"shared_kb_us", &GridCosts::shared_kb_us},
    {"call_us", &GridCosts::call_us},
    {"launch_us", &GridCosts::launch_us},
    {"product_us", &GridCosts::product_us},
    {"half_flops_per_us", &GridCosts::half_flops_per_us},
    {"tf32_flops_per_us", &GridCosts::tf32_flops_per_us},
    {"clear_bytes_per_us", &GridCosts::clear_bytes_per_us},
    {"exchange_bytes", &GridCosts::exchange_bytes},
    {"registers", &GridCosts::registers},
    {"spare_registers", &GridCosts::spare_registers},
    {"round_registers", &GridCosts::round_registers},
    {"phase_registers", &GridCosts::phase_registers},
    {"most_blocks", &GridCosts::most_blocks},
};
constexpr Figure<StepGraphCosts> kStepGraph[] = {
    {"chain_us", &StepGraphCosts::chain_us},
    {"mb_us", &StepGraphCosts::mb_us},
    {"gflop_us", &StepGraphCosts::gflop_us},
    {"call_us", &StepGraphCosts::call_us},
    {"most_steps", &StepGraphCosts::most_steps},
    {"most_sequences", &StepGraphCosts::most_sequences},
    {"hidden_multiple", &StepGraphCosts::hidden_multiple},
};
constexpr Figure<CudnnCosts> kCudnn[] = {
    {"small_us", &CudnnCosts::small_us},
    {"small_hidden", &CudnnCosts::small_hidden},
    {"medium_us", &CudnnCosts::medium_us},
    {"medium_hidden", &CudnnCosts::medium_hidden},
    {"beside_us", &CudnnCosts::beside_us},
    {"alone_us", &CudnnCosts::alone_us},
    {"mb_us", &CudnnCosts::mb_us},
    {"sequence_us", &CudnnCosts::sequence_us},
    {"l2_mb", &CudnnCosts::l2_mb},
    {"beyond_us", &CudnnCosts::beyond_us},
    {"beyond_mb_us", &CudnnCosts::beyond_mb_us},
};
constexpr Figure<SplitGemmCosts> kSplitGemm[] = {
    {"tile", &SplitGemmCosts::tile},
    {"depth", &SplitGemmCosts::depth},
    {"pytorch_flops_per_us", &SplitGemmCosts::pytorch_flops_per_us},
    {"product_flops_per_us", &SplitGemmCosts::product_flops_per_us},
    {"bytes_per_us", &SplitGemmCosts::bytes_per_us},
    {"call_us", &SplitGemmCosts::call_us},
    {"captured_call_us", &SplitGemmCosts::captured_call_us},
    {"sum_us", &SplitGemmCosts::sum_us},
    {"tile_us", &SplitGemmCosts::tile_us},
    {"split_bytes", &SplitGemmCosts::split_bytes},
    {"across_bytes", &SplitGemmCosts::across_bytes},
    {"of_pytorch", &SplitGemmCosts::of_pytorch},
    {"most_parts", &SplitGemmCosts::most_parts},
    {"blocks_per_part", &SplitGemmCosts::blocks_per_part},
    {"few_rows", &SplitGemmCosts::few_rows},
    {"filled_rows", &SplitGemmCosts::filled_rows},
};
constexpr Figure<ProductCosts> kProduct[] = {
    {"pytorch_tile", &ProductCosts::pytorch_tile},
    {"least_filled", &ProductCosts::least_filled},
};
constexpr Figure<GraphCosts> kGraph[] = {
    {"launch_us", &GraphCosts::launch_us},
    {"most_copied_bytes", &GraphCosts::most_copied_bytes},
};
constexpr Figure<ConvolutionCosts> kConvolution[] = {
    {"product_flops_per_us", &ConvolutionCosts::product_flops_per_us},
    {"bytes_per_us", &ConvolutionCosts::bytes_per_us},
    {"depthwise_bytes_per_us", &ConvolutionCosts::depthwise_bytes_per_us},
    {"call_us", &ConvolutionCosts::call_us},
    {"overlap", &ConvolutionCosts::overlap},
    {"few_waste", &ConvolutionCosts::few_waste},
    {"of_pytorch", &ConvolutionCosts::of_pytorch},
    {"pytorch_flops_per_us", &ConvolutionCosts::pytorch_flops_per_us},
    {"pytorch_passes", &ConvolutionCosts::pytorch_passes},
    {"captured_call_us", &ConvolutionCosts::captured_call_us},
    {"pytorch_few_flops_per_us", &ConvolutionCosts::pytorch_few_flops_per_us},
    {"pytorch_groups_flops_per_us", &ConvolutionCosts::pytorch_groups_flops_per_us},
    {"pytorch_depthwise_bytes_per_us", &ConvolutionCosts::pytorch_depthwise_bytes_per_us},
    {"pytorch_depthwise_flops_per_us", &ConvolutionCosts::pytorch_depthwise_flops_per_us},
};
constexpr Figure<TritonCosts> kTriton[] = {
    {"wavefront_step_us", &TritonCosts::wavefront_step_us},
    {"layer_step_us", &TritonCosts::layer_step_us},
    {"most_hidden", &TritonCosts::most_hidden},
};
constexpr Figure<OperatorCosts> kOperator[] = {
    {"operator_us", &OperatorCosts::operator_us},
    {"share", &OperatorCosts::share},
};
constexpr Figure<GpuCosts> kGpu[] = {
    {"device.processors", &GpuCosts::processors},
    {"device.shared_bytes", &GpuCosts::shared_bytes},
    {"analysis.generous_step_us", &GpuCosts::generous_step_us},
    {"choice.of_pytorch", &GpuCosts::of_pytorch},
};
constexpr Figure<FusedCpuCosts> kFusedCpu[] = {
    {"share", &FusedCpuCosts::share},
    {"kernel_us", &FusedCpuCosts::kernel_us},
};
constexpr Figure<CpuCosts> kCpu[] = {
    {"persistent.share", &CpuCosts::persistent_share},
    {"persistent.step_us", &CpuCosts::persistent_step_us},
};

LibraryCosts Figures::Library() const {
  LibraryCosts costs;
  if (!json_.is_object()) return costs;
  for (const auto& [name, unused] : json_.items())
    if (name != kRemark) ReadAll(Section(name), kOperator, &costs[name]);
  return costs;
}

ClusterCosts ReadCluster(const Figures& file) {
  ClusterCosts costs;
  Read(file.Section("cluster"), kCluster, &costs);
  for (const auto& [kind, cell] : kClusterCells) {
    Read(file.Section("cluster.step_us").Section(kind), kClusterSteps, &(costs.*cell));
    for (const auto& [form, hidden] : kClusterHidden)
      ReadAll(file.Section("cluster_hidden").Section(kind).Section(form), kHidden, &(costs.*cell.*hidden));
  }
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
  Read(gpu, kGpu, &costs.gpu);
  for (size_t i = 0; i < costs.gpu.cluster_processors.size(); ++i)
    costs.gpu.cluster_processors[i] =
        static_cast<int64_t>(gpu.Number(fmt::format("device.cluster_processors.of_{}", 2 << i)));
  costs.gpu.cluster = ReadCluster(gpu);
  ReadAll(gpu.Section("grid"), kGrid, &costs.gpu.grid);
  ReadAll(gpu.Section("step"), kStepGraph, &costs.gpu.step);
  ReadAll(gpu.Section("cudnn"), kCudnn, &costs.gpu.cudnn);
  ReadAll(gpu.Section("split_gemm"), kSplitGemm, &costs.gpu.split_gemm);
  ReadAll(gpu.Section("product"), kProduct, &costs.gpu.product);
  ReadAll(gpu.Section("graph"), kGraph, &costs.gpu.graph);
  const Figures fused = gpu.Section("fused");
  costs.gpu.fused.copy_bytes_per_us = fused.Number("copy_bytes_per_us");
  for (const char* layout : {"pointwise", "row", "resident", "split", "column", "scan", "pool"})
    costs.gpu.fused.share[layout] = fused.Number(layout);
  ReadAll(gpu.Section("convolution"), kConvolution, &costs.gpu.convolution);
  ReadAll(gpu.Section("triton"), kTriton, &costs.gpu.triton);
  costs.gpu.library = gpu.Section("library").Library();
  ReadAll(cpu.Section("fused"), kFusedCpu, &costs.cpu.fused);
  Read(cpu, kCpu, &costs.cpu);
  costs.cpu.library = cpu.Section("library").Library();
  if (!missing.empty()) return Error{ErrorKind::kInternal, missing + " is missing or is no number"};
  return costs;
}

Result<std::string> DeviceSection(const std::string& reference) {
  const size_t colon = reference.find(':');
  if (colon == std::string::npos) return Error{ErrorKind::kInternal, reference + " names no section"};
  HONE_ASSIGN_OR_RETURN(const Json file, DeviceFile(reference.substr(0, colon)));
  const Json& section = At(file, reference.substr(colon + 1));
  if (!section.is_object() && !section.is_number())
    return Error{ErrorKind::kInternal, "there is no section " + reference};
  return DumpJson(WithoutRemarks(section));
}

}  // namespace hone

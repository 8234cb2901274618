// Names of PyTorch's and CUDA's C++ interfaces that a source of load_inline uses without their header.
// load_inline adds torch/extension.h to cpp_sources, and torch/types.h, cuda.h and cuda_runtime.h to
// cuda_sources. The table was verified with nvcc 13.0, g++ 12 and the headers of PyTorch 2.11: each name
// fails to compile without its header and compiles with it.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/extension_problems.h"
#include "base/text.h"

namespace hone {

namespace {

enum Side : unsigned { kCudaSide = 1, kCppSide = 2, kBothSides = 3 };

struct HeaderOfName {
  std::string_view name;  // a full name, or a prefix followed by '*'
  std::string_view include;
  std::string_view also = {};  // prefixes of other headers that declare it
  Side side = kBothSides;
};
constexpr std::string_view kStreams =
    "c10/cuda/CUDAStream.h c10/cuda/CUDAGuard.h c10/cuda/CUDACachingAllocator.h ATen/cuda/CUDAContext.h "
    "ATen/cuda/ThrustAllocator.h";
constexpr std::string_view kCudaChecks =
    "c10/cuda/ ATen/cuda/CUDAContext.h ATen/cuda/Exceptions.h ATen/cuda/Thrust";
constexpr std::string_view kBlas = "cublas ATen/cuda/CUDAContext.h ATen/cuda/Exceptions.h";
constexpr std::string_view kRuntime = "cuda_ c10/cuda/ ATen/cuda/ cublas";
constexpr HeaderOfName kHeaders[] = {
    {"at::cuda::getCurrentCUDAStream", "ATen/cuda/CUDAContext.h", kStreams},
    {"at::cuda::getDefaultCUDAStream", "ATen/cuda/CUDAContext.h", kStreams},
    {"at::cuda::getStreamFromPool", "ATen/cuda/CUDAContext.h", kStreams},
    {"c10::cuda::getCurrentCUDAStream", "c10/cuda/CUDAStream.h", kStreams},
    {"at::cuda::getCurrentDeviceProperties", "ATen/cuda/CUDAContext.h"},
    {"at::cuda::getCurrentCUDABlasHandle", "ATen/cuda/CUDAContext.h"},
    {"at::cuda::CUDAGuard", "c10/cuda/CUDAGuard.h"},
    {"c10::cuda::CUDAGuard", "c10/cuda/CUDAGuard.h"},
    {"at::cuda::OptionalCUDAGuard", "c10/cuda/CUDAGuard.h"},
    {"c10::cuda::OptionalCUDAGuard", "c10/cuda/CUDAGuard.h"},
    {"C10_CUDA_CHECK", "c10/cuda/CUDAException.h", kCudaChecks},
    {"C10_CUDA_KERNEL_LAUNCH_CHECK", "c10/cuda/CUDAException.h", kCudaChecks},
    {"AT_CUDA_CHECK", "ATen/cuda/CUDAContext.h", "ATen/cuda/Exceptions.h"},
    {"gpuAtomicAdd", "ATen/cuda/Atomic.cuh"},
    {"at::ceil_div", "ATen/ceil_div.h"},
    {"nvcuda", "mma.h", {}, kCudaSide},
    {"nvcuda::*", "mma.h", {}, kCudaSide},
    {"cooperative_groups", "cooperative_groups.h", "cub/ cooperative_groups/", kCudaSide},
    {"cooperative_groups::*", "cooperative_groups.h", "cub/ cooperative_groups/", kCudaSide},
    {"cub::*", "cub/cub.cuh", "cub/", kCudaSide},
    {"curandState", "curand_kernel.h", "curand", kCudaSide},
    {"curand_init", "curand_kernel.h", "curand", kCudaSide},
    {"cublasHandle_t", "cublas_v2.h", kBlas},
    {"cublasCreate", "cublas_v2.h", kBlas},
    {"CUDART_INF_F", "math_constants.h", {}, kCudaSide},
    {"PYBIND11_MODULE", "torch/extension.h", "pybind11/", kCudaSide},
    {"py::*", "torch/extension.h", "pybind11/", kCudaSide},
    {"pybind11::*", "torch/extension.h", "pybind11/", kCudaSide},
    {"cudaStream_t", "cuda_runtime.h", kRuntime, kCppSide},
    {"cudaError_t", "cuda_runtime.h", kRuntime, kCppSide},
    {"cudaGetLastError", "cuda_runtime.h", kRuntime, kCppSide},
    {"cudaDeviceSynchronize", "cuda_runtime.h", kRuntime, kCppSide},
    {"FLT_MAX", "cfloat", "float.h", kCppSide},
    {"omp_get_max_threads", "omp.h", {}, kCppSide},
    {"omp_get_thread_num", "omp.h", {}, kCppSide},
};

struct NameToday {
  std::string_view name;
  std::string_view today;
};
constexpr NameToday kRenamed[] = {
    {"AT_CHECK", "TORCH_CHECK"},
    {"THCudaCheck", "C10_CUDA_CHECK"},
    {"torch::cuda::getCurrentCUDAStream", "at::cuda::getCurrentCUDAStream"},
    {"at::getCurrentCUDAStream", "at::cuda::getCurrentCUDAStream"},
    {"c10::getCurrentCUDAStream", "c10::cuda::getCurrentCUDAStream"},
    {"torch::getCurrentCUDAStream", "at::cuda::getCurrentCUDAStream"},
};
// Headers that no longer exist.
constexpr NameToday kGone[] = {{"THC/THC.h", "ATen/cuda/CUDAContext.h"},
                               {"THC/THCGeneral.h", "ATen/cuda/CUDAContext.h"},
                               {"THC/THCThrustAllocator.cuh", "ATen/cuda/ThrustAllocator.h"},
                               {"THC/THCDeviceUtils.h", "THC/THCDeviceUtils.cuh"}};

// Headers that declare none of the names above except those in the table. A source with any other header is
// skipped, because that header may declare them all.
bool IsFamiliar(std::string_view path) {
  static const std::set<std::string_view> kNames = {"torch/extension.h",
                                                    "torch/types.h",
                                                    "torch/torch.h",
                                                    "torch/all.h",
                                                    "ATen/ATen.h",
                                                    "cuda.h",
                                                    "cuda_runtime.h",
                                                    "cuda_runtime_api.h",
                                                    "device_launch_parameters.h",
                                                    "cuda_fp16.h",
                                                    "cuda_bf16.h",
                                                    "vector",
                                                    "string",
                                                    "cmath",
                                                    "math.h",
                                                    "cstdint",
                                                    "stdint.h",
                                                    "cstdio",
                                                    "stdio.h",
                                                    "cstdlib",
                                                    "stdlib.h",
                                                    "algorithm",
                                                    "iostream",
                                                    "limits",
                                                    "limits.h",
                                                    "climits",
                                                    "cfloat",
                                                    "float.h",
                                                    "memory",
                                                    "tuple",
                                                    "utility",
                                                    "numeric",
                                                    "cassert",
                                                    "assert.h",
                                                    "stdexcept",
                                                    "type_traits",
                                                    "functional",
                                                    "optional",
                                                    "array",
                                                    "map",
                                                    "cstring",
                                                    "string.h"};
  if (kNames.count(path) != 0) return true;
  for (const HeaderOfName& row : kHeaders)
    if (row.include == path) return true;
  static const std::set<std::string_view> kPart = {
      "c10/cuda/CUDAFunctions.h", "c10/cuda/CUDACachingAllocator.h", "ATen/cuda/Exceptions.h",
      "ATen/cuda/ThrustAllocator.h", "cooperative_groups/reduce.h"};
  if (kPart.count(path) != 0) return true;
  return std::any_of(std::begin(kGone), std::end(kGone),
                     [&](const NameToday& gone) { return gone.name == path; });
}

std::string_view IncludedPath(const SyntaxNode* include) {
  const SyntaxNode* path = include->Field("path");
  if (path == nullptr || path->text.size() < 2) return {};
  return path->text.substr(1, path->text.size() - 2);
}

bool UnderCondition(const SyntaxNode* node) {
  for (const SyntaxNode* at = node->parent; at != nullptr; at = at->parent)
    if (StartsWith(at->type, "preproc_if")) return true;
  return false;
}

// Facts about all sources of one side, which are compiled as one file.
struct SideFacts {
  std::set<std::string_view> includes;
  std::set<std::string_view> defined;  // their own macros, functions and types
  bool familiar = true;
  bool uses_cuda_namespace = false;  // using namespace at::cuda
};

SideFacts FactsOfSide(const ExtensionSources& sources) {
  SideFacts facts;
  facts.familiar = sources.known;
  for (const ExtensionSource& source : sources.texts) {
    const SyntaxNode* root = source.unit->tree.root();
    for (const SyntaxNode* node = root; node != nullptr; node = NextInDocument(node, root)) {
      if (node->Is("preproc_include")) {
        facts.includes.insert(IncludedPath(node));
        // A removed header counts as its replacement here.
        for (const NameToday& gone : kGone)
          if (gone.name == IncludedPath(node)) facts.includes.insert(gone.today);
        facts.familiar = facts.familiar && IsFamiliar(IncludedPath(node));
      }
      if (node->Is("preproc_def") || node->Is("preproc_function_def"))
        if (const SyntaxNode* name = node->Field("name")) facts.defined.insert(name->text);
      if (node->Is("using_declaration")) facts.uses_cuda_namespace = true;
      if (node->Is("function_declarator"))
        if (const SyntaxNode* name = node->Field("declarator")) facts.defined.insert(name->text);
    }
  }
  return facts;
}

bool IsOneOf(std::string_view beginnings, std::string_view path) {
  for (const std::string& beginning : Split(beginnings, ' '))
    if (!beginning.empty() && StartsWith(path, beginning)) return true;
  return false;
}

bool Matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty() || pattern.back() != '*') return pattern == name;
  return StartsWith(name, pattern.substr(0, pattern.size() - 1));
}

class NameReader {
 public:
  NameReader(const ExtensionSources& sources, Side side, std::vector<NameProblem>* out)
      : sources_(sources), side_(side), facts_(FactsOfSide(sources)), out_(out) {}

  void Read() {
    for (const ExtensionSource& source : sources_.texts) {
      const SyntaxNode* root = source.unit->tree.root();
      for (const SyntaxNode* node = root; node != nullptr; node = NextInDocument(node, root))
        ReadNode(source, node);
    }
  }

 private:
  void ReadNode(const ExtensionSource& source, const SyntaxNode* node) {
    if (node->Is("preproc_include")) {
      for (const NameToday& gone : kGone)
        if (gone.name == IncludedPath(node)) Add(source, node->Field("path"), gone.name, {}, gone.today);
      return;
    }
    if (node->Is("call_expression")) ReadDispatch(source, node);
    const bool qualified = node->Is("qualified_identifier");
    const bool word =
        node->Is("identifier") || node->Is("type_identifier") || node->Is("namespace_identifier");
    const bool inside = node->parent != nullptr && node->parent->Is("qualified_identifier");
    if ((!qualified && !word) || inside) return;
    ReadName(source, node);
  }

  void ReadName(const ExtensionSource& source, const SyntaxNode* node) {
    const std::string_view name = node->text;
    const bool own = facts_.defined.count(name) != 0 && name != "PYBIND11_MODULE";
    if (own) return;
    for (const NameToday& row : kRenamed)
      if (row.name == name) return Add(source, node, name, {}, row.today);
    if (name == "getCurrentCUDAStream" && !facts_.uses_cuda_namespace && facts_.familiar)
      return Add(source, node, name, {}, "at::cuda::getCurrentCUDAStream");
    if (!facts_.familiar) return;
    for (const HeaderOfName& row : kHeaders) {
      if ((row.side & side_) == 0 || !Matches(row.name, name)) continue;
      const bool seen =
          std::any_of(facts_.includes.begin(), facts_.includes.end(),
                      [&](std::string_view one) { return one == row.include || IsOneOf(row.also, one); });
      if (!seen && asked_.insert(row.include).second) Add(source, node, name, row.include, {});
      return;
    }
  }

  // AT_DISPATCH_...(x.type(), ...) needs a scalar type.
  void ReadDispatch(const ExtensionSource& source, const SyntaxNode* call) {
    const SyntaxNode* callee = call->Field("function");
    const SyntaxNode* arguments = call->Field("arguments");
    if (callee == nullptr || arguments == nullptr || !StartsWith(callee->text, "AT_DISPATCH_")) return;
    for (const SyntaxNode* argument = arguments->first_child; argument != nullptr;
         argument = argument->next) {
      const SyntaxNode* method = argument->Is("call_expression") ? argument->Field("function") : nullptr;
      const SyntaxNode* field = method != nullptr ? method->Field("field") : nullptr;
      if (field == nullptr || field->text != "type") continue;
      Add(source, field, "type", {}, "scalar_type");
      return;
    }
  }

  void Add(const ExtensionSource& source, const SyntaxNode* node, std::string_view name,
           std::string_view include, std::string_view replacement) {
    if (node == nullptr || UnderCondition(node)) return;
    out_->push_back({&source, node, std::string(name), include, replacement});
  }

  const ExtensionSources& sources_;
  const Side side_;
  const SideFacts facts_;
  std::set<std::string_view> asked_;
  std::vector<NameProblem>* out_;
};

}  // namespace

std::string NameProblem::Words() const {
  if (!include.empty()) return fmt::format("{} needs #include <{}>", name, include);
  if (name == "type") return "AT_DISPATCH takes a scalar type, and .type() is none";
  return Contains(name, ".h") || Contains(name, ".cuh")
             ? fmt::format("PyTorch has no {} any more", name)
             : fmt::format("PyTorch has no {}: it is {}", name, replacement);
}

std::vector<NameProblem> NameProblems(const ExtensionBuild& build) {
  std::vector<NameProblem> problems;
  if (!build.known) return problems;
  NameReader(build.cpp, kCppSide, &problems).Read();
  NameReader(build.cuda, kCudaSide, &problems).Read();
  return problems;
}

}  // namespace hone

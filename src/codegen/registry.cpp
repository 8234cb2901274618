#include "codegen/recipe.h"

namespace hone {

const std::vector<Recipe>& AllRecipes() {
  static const std::vector<Recipe> kRecipes = {
      {"cuda/cluster_wavefront", ProposeCudaClusterWavefront, RecipeDevice::kGpu},
      {"cuda/cluster_bidirectional", ProposeCudaClusterBidirectional, RecipeDevice::kGpu},
      {"cuda/cluster_wavefront_fp32", ProposeCudaClusterWavefrontFp32, RecipeDevice::kGpu},
      {"cuda/cluster_bidirectional_fp32", ProposeCudaClusterBidirectionalFp32, RecipeDevice::kGpu},
      {"cuda/split_gemm", ProposeSplitGemm, RecipeDevice::kGpu},
      {"cuda/fused_graph", ProposeFusedGraph, RecipeDevice::kGpu},
      {"cuda/fused_graph_captured", ProposeFusedGraphCaptured, RecipeDevice::kGpu},
      {"cuda/half_network", ProposeHalfNetwork, RecipeDevice::kGpu},
      {"triton/fused_graph", ProposeTritonFusedGraph, RecipeDevice::kGpu},
      {"triton/persistent", ProposeTritonPersistent, RecipeDevice::kGpu},
      {"cuda/cooperative_grid", ProposeCudaCooperativeGrid, RecipeDevice::kGpu},
      {"cuda/step_graph", ProposeCudaStepGraph, RecipeDevice::kGpu},
      {"cpu/persistent", ProposeCpuPersistent, RecipeDevice::kCpu},
      {"cpu/fused_graph", ProposeCpuFusedGraph, RecipeDevice::kCpu},
      {"library/cuda_graph", ProposeCudaGraph, RecipeDevice::kGpu},
      {"library/folded_cuda_graph", ProposeFoldedCudaGraph, RecipeDevice::kGpu},
      {"library/folded_channels_last", ProposeFoldedChannelsLast, RecipeDevice::kAny},
      {"library/tf32", ProposeTf32, RecipeDevice::kGpu},
      {"library/compile", ProposeCompile, RecipeDevice::kAny},
      {"library/cpu_jit_freeze", ProposeCpuJitFreeze, RecipeDevice::kCpu},
      {"library/cpu_packed_weights", ProposeCpuPackedWeights, RecipeDevice::kCpu},
      {"library/cpu_threads", ProposeCpuThreads, RecipeDevice::kCpu},
      {"library/cpu_inference_mode", ProposeCpuInferenceMode, RecipeDevice::kCpu},
  };
  return kRecipes;
}

}  // namespace hone

#include "codegen/recipe.h"

namespace hone {

const std::vector<Recipe>& AllRecipes() {
  static const std::vector<Recipe> kRecipes = {
      {"cuda/cluster_wavefront", ProposeCudaClusterWavefront},
      {"cuda/cluster_bidirectional", ProposeCudaClusterBidirectional},
      {"cuda/cluster_wavefront_fp32", ProposeCudaClusterWavefrontFp32},
      {"cuda/cluster_bidirectional_fp32", ProposeCudaClusterBidirectionalFp32},
      {"cuda/split_gemm", ProposeSplitGemm},
      {"triton/persistent", ProposeTritonPersistent},
      {"cuda/cooperative_grid", ProposeCudaCooperativeGrid},
      {"cuda/step_graph", ProposeCudaStepGraph},
      {"cpu/persistent", ProposeCpuPersistent},
      {"library/cuda_graph", ProposeCudaGraph},
      {"library/folded_cuda_graph", ProposeFoldedCudaGraph},
      {"library/folded_channels_last", ProposeFoldedChannelsLast},
      {"library/tf32", ProposeTf32},
      {"library/compile", ProposeCompile},
      {"library/cpu_jit_freeze", ProposeCpuJitFreeze},
      {"library/cpu_packed_weights", ProposeCpuPackedWeights},
      {"library/cpu_threads", ProposeCpuThreads},
      {"library/cpu_inference_mode", ProposeCpuInferenceMode},
  };
  return kRecipes;
}

}  // namespace hone

// The costs of kernels and PyTorch on a class of devices. All figures are in devices/*.json, one file per
// class. Recipes predict times with them, and files that recipes write contain the same sections as Python
// values (DeviceSection).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "base/json_fwd.h"
#include "base/result.h"

namespace hone {

// Recurrent layers in clusters of CTAs. The number of hidden units that clusters of at most 8 and of 16 CTAs
// hold.
struct ClusterHidden {
  int64_t of_8 = 0;
  int64_t of_16 = 0;
};
struct ClusterCell {
  double wavefront_us = 0;  // time of one step
  double both_us = 0;       // time of a step of two directions at once
  double precise_us = 0;    // time of a step with two terms per operand
  ClusterHidden stacked, single, precise_stacked, precise_single;
};
struct ClusterCosts {
  int64_t sequences = 0;  // per cluster
  int64_t resident_of_8 = 0;
  int64_t resident_of_16 = 0;
  double call_us = 0;
  ClusterCell gru, lstm, rnn;
};

// Recurrent layers on the whole chip. docs/RECIPES.md explains the terms.
struct GridCosts {
  double chain_us = 0, phase_us = 0, round_us = 0, l2_kb_us = 0, mma_us = 0, mma_alone_us = 0,
         partial_kb_us = 0, shared_kb_us = 0;
  double l2_ctas = 0;
  double call_us = 0, launch_us = 0, product_us = 0;
  double half_flops_per_us = 0, tf32_flops_per_us = 0;
  double clear_bytes_per_us = 0, exchange_bytes = 0;
  int64_t registers = 0, spare_registers = 0, round_registers = 0, phase_registers = 0, most_blocks = 0;
};

// Recurrent layers with a product and a kernel per step, in a CUDA graph.
struct StepGraphCosts {
  double chain_us = 0, mb_us = 0, gflop_us = 0, call_us = 0;
  int64_t most_steps = 0, most_sequences = 0, hidden_multiple = 0;
};

// PyTorch's recurrent layers in a CUDA graph.
struct CudnnCosts {
  double small_us = 0, medium_us = 0, beside_us = 0, alone_us = 0, mb_us = 0, sequence_us = 0;
  double l2_mb = 0, beyond_us = 0, beyond_mb_us = 0;
  int64_t small_hidden = 0, medium_hidden = 0;
};

// Linear layers as three fp16 products.
struct SplitGemmCosts {
  int64_t tile = 0, depth = 0;
  double pytorch_flops_per_us = 0, product_flops_per_us = 0, bytes_per_us = 0, call_us = 0, sum_us = 0;
  double captured_call_us = 0;  // time of a call in a CUDA graph
  double tile_us = 0, split_bytes = 0, across_bytes = 0;
  double of_pytorch = 0;
  int64_t most_parts = 0, blocks_per_part = 0, few_rows = 0, filled_rows = 0;
};

// PyTorch's float32 products in a graph.
struct ProductCosts {
  double pytorch_tile = 0, least_filled = 0;
};

// Launches, and what a replayed CUDA graph copies.
struct GraphCosts {
  double launch_us = 0, most_copied_bytes = 0;
};

// Fused kernels: the rate of a copy, and the share of it that kernels of each layout reach.
struct FusedGpuCosts {
  double copy_bytes_per_us = 0;
  std::map<std::string, double> share;
  double Us(const std::map<std::string, double>& bytes_by_layout) const;
};

// Convolutions on the tensor cores, and depthwise ones (templates/conv_product.cu, conv_depthwise.cu).
struct ConvolutionCosts {
  double product_flops_per_us = 0, bytes_per_us = 0, depthwise_bytes_per_us = 0, call_us = 0;
  double overlap = 0, few_waste = 0, of_pytorch = 0;
  double pytorch_flops_per_us = 0, pytorch_passes = 0;
  double captured_call_us = 0, pytorch_few_flops_per_us = 0, pytorch_groups_flops_per_us = 0;
  double pytorch_depthwise_bytes_per_us = 0, pytorch_depthwise_flops_per_us = 0;
};

struct TritonCosts {
  double wavefront_step_us = 0, layer_step_us = 0;
  int64_t most_hidden = 0;
};

// A chain of library operators: a fixed cost for each, and the share of the peak that they reach.
struct OperatorCosts {
  double operator_us = 0;
  double share = 0;
};
using LibraryCosts = std::map<std::string, OperatorCosts>;

struct GpuCosts {
  int64_t processors = 0;
  int64_t shared_bytes = 0;  // per block
  std::array<int64_t, 4> cluster_processors =
      {};  // processors that clusters of 2, 4, 8 and 16 blocks can use
  ClusterCosts cluster;
  GridCosts grid;
  StepGraphCosts step;
  CudnnCosts cudnn;
  double generous_step_us = 0;  // a dependent step that takes longer than this can be made faster
  double of_pytorch = 0;  // a recurrent kernel must be predicted to take at most this part of PyTorch's time
  SplitGemmCosts split_gemm;
  ProductCosts product;
  GraphCosts graph;
  FusedGpuCosts fused;
  ConvolutionCosts convolution;
  TritonCosts triton;
  LibraryCosts library;
};

// Fused kernels on a CPU: the share of the memory's rate that they reach, and the cost of a call.
struct FusedCpuCosts {
  double share = 0, kernel_us = 0;
};

struct CpuCosts {
  FusedCpuCosts fused;
  double persistent_share = 0;  // share of the cores' own peak rate
  double persistent_step_us = 0;
  LibraryCosts library;
};

struct DeviceCosts {
  GpuCosts gpu;
  CpuCosts cpu;
};
// Loads the embedded files, or the given ones. An Error names the first missing figure.
Result<DeviceCosts> LoadDeviceCosts();
// Of a GPU, for those who compare candidates instead of predicting their times.
double LaunchUs();
Result<DeviceCosts> ReadDeviceCosts(const Json& gpu_file, const Json& cpu_file);

// Returns a section of a file, such as "h200.json:grid", as a Python value without its remarks. Members of
// sections follow a dot: "cpu.json:persistent.cycles.wake".
Result<std::string> DeviceSection(const std::string& reference);

}  // namespace hone

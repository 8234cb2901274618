// A network whose convolutions read and write fp16 in channels-last order.
//
// PyTorch's own float32 convolutions round both operands to TF32, which has 11 significant bits, as many as
// fp16. A convolution's input may therefore be stored as fp16 without further loss, with half the traffic,
// and cuDNN is fastest with fp16 in channels-last order. The pass rewrites the graph as follows.
//   - Each convolution becomes hone.half_convolution on [N, spatial..., C] in fp16, without its bias.
//   - Inputs of convolutions are stored as fp16, and all other nodes read the stored value.
//   - Maps, norms, cats and poolings in between work on [N, spatial..., C] in float32, which is never stored.
//   - All other nodes see float32 in the usual order of axes.
// Values that no convolution reads are not rounded, so the answers have only the convolutions' error.
//
// fp16 has a smaller range than TF32. hone.guarded returns its operand. It also records in a word of device
// memory whether the value exceeds the range, and whether a tensor has large enough elements.
// templates/half_network.py reads these words and runs PyTorch's module if fp16 is not suitable.
#pragma once

#include "codegen/device_costs.h"
#include "graph/graph.h"

namespace hone::fused {

inline constexpr const char* kHalfConvolution = "hone.half_convolution.default";
inline constexpr const char* kHalfWeight = "hone.half_weight.default";
inline constexpr const char* kHalfScale = "hone.half_scale.default";
inline constexpr const char* kHalfPool = "hone.half_pool.default";
inline constexpr const char* kStored =
    "hone.stored.default";  // the value, stored so that no kernel recomputes it
inline constexpr const char* kGuarded = "hone.guarded.default";

struct HalfGraph {
  int convolutions = 0;
  std::vector<int64_t> groups;  // group of each guarded tensor, by its word
  int scales = 0;               // number of groups
  double us = 0;                // expected time of the convolutions
};

// Returns zeros and leaves the graph unchanged if no convolution can be converted.
HalfGraph StoreHalf(graph::Graph& graph, const GpuCosts& gpu);

}  // namespace hone::fused

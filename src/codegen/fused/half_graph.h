// A network whose convolutions read and write fp16 in channels-last order.
//
// PyTorch's own float32 convolutions round both operands to TF32, which has 11 significant bits, as fp16 has.
// What a convolution reads may therefore be stored as fp16 without losing more, at half the traffic, and
// cuDNN is fastest with fp16 in channels-last order. The pass rewrites the graph so that
//   - each convolution becomes hone.half_convolution on [N, spatial..., C] in fp16, without its bias,
//   - what a convolution reads is stored as fp16, and everybody else reads what is stored,
//   - maps, norms, cats and poolings in between work on [N, spatial..., C] in float32, which is never stored,
//   - everything else sees float32 in the usual order of axes.
// What no convolution reads is not rounded: the answers keep the error of the convolutions alone.
//
// fp16 has a smaller range than TF32. hone.guarded passes a value on and notes in a word of device memory
// that it is beyond the range, and that a tensor has elements that are large enough;
// templates/half_network.py reads the words and runs PyTorch's module where fp16 does not do.
#pragma once

#include "codegen/device_costs.h"
#include "graph/graph.h"

namespace hone::fused {

inline constexpr const char* kHalfConvolution = "hone.half_convolution.default";
inline constexpr const char* kHalfWeight = "hone.half_weight.default";
inline constexpr const char* kHalfScale = "hone.half_scale.default";
inline constexpr const char* kHalfPool = "hone.half_pool.default";
inline constexpr const char* kStored =
    "hone.stored.default";  // the value itself, which no kernel computes again
inline constexpr const char* kGuarded = "hone.guarded.default";

struct HalfGraph {
  int convolutions = 0;
  std::vector<int64_t> groups;  // of each guarded tensor, by its word
  int scales = 0;               // how many groups there are
  double us = 0;                // expected of the convolutions
};

// Nothing but zeros if the graph has no convolution that can be taken; it stays as it is then.
HalfGraph StoreHalf(graph::Graph& graph, const GpuCosts& gpu);

}  // namespace hone::fused

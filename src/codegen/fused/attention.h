// Attention on the tensor cores.
//
// FuseAttention puts softmax(q k' * scale) v into one kernel (templates/attention.cu), where the graph has it
// as one operator or as products around a softmax: heads of up to 128 numbers.
//
// ExpandAttention takes what is left, attention as products: softmax(q k' * scale) v in operators that Hone
// has kernels for. PyTorch computes float32 attention outside of the tensor cores; where the two products are
// large, they cost a quarter of that as split products (product.h), and the scores may go through memory in
// between.
#pragma once

#include "codegen/device_costs.h"
#include "graph/graph.h"

namespace hone::fused {

// Replaces aten.scaled_dot_product_attention of float32 where the parts are expected to be faster: plain or
// causal, with its scale. A mask as tensor is left to PyTorch, which gives rows without any key a value of
// its own; so are dropout and heads that share keys. Returns how many were replaced.
int ExpandAttention(graph::Graph& graph, const GpuCosts& gpu);
// The same for every one that can be expressed, whatever it costs.
int ExpandAllAttention(graph::Graph& graph);

// Takes attention of float32 whose heads the kernel covers: the operator, plain or causal, and
// matmul(softmax( masked_fill(matmul(q, k') * number, mask, -inf)), v) with a mask that all heads share, or
// without one. Returns how many; `us` gets what they are expected to take, `pytorch_us` what PyTorch takes.
inline constexpr const char* kAttention = "hone.attention.default";
struct FusedAttention {
  int count = 0;
  double us = 0, pytorch_us = 0;
};
FusedAttention FuseAttention(graph::Graph& graph, const GpuCosts& gpu);

}  // namespace hone::fused

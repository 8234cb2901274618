// Attention on the tensor cores.
//
// FuseAttention replaces softmax(q k' * scale) v by one kernel (templates/attention.cu), whether the graph
// has it as one operator or as products around a softmax. Heads may have up to 128 numbers.
//
// ExpandAttention turns the remaining attention operators into products, softmax(q k' * scale) v in operators
// for which Hone has kernels. PyTorch computes float32 attention without tensor cores. If the two products
// are large, split products (product.h) take a quarter of that time, even though the scores go through
// memory.
#pragma once

#include "codegen/device_costs.h"
#include "graph/graph.h"

namespace hone::fused {

// Replaces float32 aten.scaled_dot_product_attention, plain or causal, if the parts are expected to be
// faster. Leaves to PyTorch: a mask given as a tensor (PyTorch returns a special value for rows without a
// key), dropout, and heads that share keys. Returns the number of replacements.
int ExpandAttention(graph::Graph& graph, const GpuCosts& gpu);
// Replaces every one that can be expressed, whatever its cost.
int ExpandAllAttention(graph::Graph& graph);

// Replaces float32 attention whose heads the kernel supports: the operator, and matmul(softmax(scores), v)
// with scores = matmul(q, k') * number. The number may also scale q or k. All heads may share a mask of
// bools: masked_fill(scores, mask, fill), where(mask, scores, fill), scores + masked_fill(0, mask, -inf), or
// the operator's attn_mask (bools, or the same 0 and -inf). The fill is -inf, or so low (-1e9, finfo.min)
// that hidden keys have a share of 0. A query without keys is NaN with -inf, the mean of the values with a
// finite fill, and 0 from the operator. Returns the number of replacements; `us` gets their expected time,
// `pytorch_us` PyTorch's.
inline constexpr const char* kAttention = "hone.attention.default";
struct FusedAttention {
  int count = 0;
  double us = 0, pytorch_us = 0;
};
FusedAttention FuseAttention(graph::Graph& graph, const GpuCosts& gpu);
// Replaces every one that the kernel supports, whatever its size.
FusedAttention FuseAllAttention(graph::Graph& graph);

}  // namespace hone::fused

// Products of two matrices in a graph that Hone's own kernel takes over on Hopper
// (templates/split_product.py): linear, matmul, mm, bmm, addmm and einsum, where both operands are float32
// and the product is large enough to be faster on fp16 tensor cores. All other products stay ATen calls.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "codegen/device_costs.h"
#include "graph/graph.h"

namespace hone::fused {

// The part of a result that is wanted; the rest is 0.
enum class Kept { kAll, kUpper, kLower };

// Operators that FoldAroundProducts makes.
inline constexpr const char* kSoftmaxProduct =
    "hone.softmax_product.default";                                       // softmax(self * factor) @ other
inline constexpr const char* kKeptProduct = "hone.kept_product.default";  // triu or tril of self @ other

// result[..., rows, units] = x[..., rows, k] w[..., units, k]' + bias[units]
struct Product {
  graph::ValueId x{-1}, w{-1};
  std::optional<graph::ValueId> bias;
  // Python: a function from the operand to a tensor with k as its last axis.
  std::string x_view = "lambda t: t", w_view = "lambda t: t";
  int64_t rows = 0, units = 0, width = 0, batches = 1;
  // The shape of the batch; nothing where all leading axes of x count rows.
  std::optional<graph::Shape> batch;
  std::optional<double> softmax;  // x is the softmax of this many times the operand, along k
  Kept kept = Kept::kAll;
  int64_t diagonal = 0;        // of what is kept
  std::vector<int64_t> order;  // of the result's axes in memory; empty where it is contiguous
  std::string of;              // "x" or "w": the operand that depends on weights alone, "": none does
  double us = 0, pytorch_us = 0;

  std::string About() const;  // "2048 x 8192 x 4096"
};

// The node as a product, without its costs; nothing if it is none that the kernel covers.
std::optional<Product> ProductOfNode(const graph::Graph& graph, const graph::Node& node);

// Gives products that are expected to be faster than PyTorch's what their kernels compute besides: a softmax
// in front (of scores times a number) with the order in which the result lies, and triu or tril behind.
// Returns how many.
int FoldAroundProducts(graph::Graph& graph, const GpuCosts& gpu);

// Those that are expected to be faster than PyTorch's.
std::map<graph::NodeId, Product> ChooseProducts(const graph::Graph& graph, const GpuCosts& gpu);

}  // namespace hone::fused

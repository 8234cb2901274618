// Chooses the matrix products of a graph that Hone's own kernel computes on Hopper
// (templates/split_product.py): linear, matmul, mm, bmm, addmm and einsum with two float32 operands, if they
// are large enough to be faster on fp16 tensor cores. All others stay ATen calls.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "codegen/device_costs.h"
#include "graph/graph.h"

namespace hone::fused {

// The part of a result that is needed; the rest is 0.
enum class Kept { kAll, kUpper, kLower };

// Operators that FoldAroundProducts makes.
inline constexpr const char* kSoftmaxProduct =
    "hone.softmax_product.default";                                       // softmax(self * factor) @ other
inline constexpr const char* kKeptProduct = "hone.kept_product.default";  // triu or tril of self @ other

// result[..., rows, units] = x[..., rows, k] w[..., units, k]' + bias[units]
struct Product {
  graph::ValueId x{-1}, w{-1};
  std::optional<graph::ValueId> bias;
  // Python: a function that views the operand as a tensor with k as its last axis.
  std::string x_view = "lambda t: t", w_view = "lambda t: t";
  int64_t rows = 0, units = 0, width = 0, batches = 1;
  // The shape of the batch. No value if all leading axes of x belong to the rows.
  std::optional<graph::Shape> batch;
  std::optional<double> softmax;  // x is the softmax of this factor times the operand, along k
  Kept kept = Kept::kAll;
  int64_t diagonal = 0;        // the diagonal of triu or tril
  std::vector<int64_t> order;  // memory order of the result's axes; empty if it is contiguous
  std::string of;              // "x" or "w", the operand that depends on weights alone, or ""
  double us = 0, pytorch_us = 0;

  std::string About() const;  // "2048 x 8192 x 4096"
};

// Returns the node as a product, without costs. No value if the kernel does not support it.
std::optional<Product> ProductOfNode(const graph::Graph& graph, const graph::Node& node);

// Adds to products that are expected to be faster than PyTorch's what their kernels can compute as well: a
// preceding softmax (of scores times a number) with the result's memory order, and a following triu or tril.
// Returns the number of changed products.
int FoldAroundProducts(graph::Graph& graph, const GpuCosts& gpu);

// Returns the products that are expected to be faster than PyTorch's.
std::map<graph::NodeId, Product> ChooseProducts(const graph::Graph& graph, const GpuCosts& gpu);

}  // namespace hone::fused

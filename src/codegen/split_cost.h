// The time of a product as three fp16 products on Hopper's tensor cores (templates/split_gemm.cu), and in
// float32 with PyTorch. templates/part_split.py uses the same formulas and figures in every call.
#pragma once

#include "codegen/device_costs.h"

namespace hone {

// `batches` times out[rows, units] = x[rows, width] w[units, width]'.
struct SplitProductSize {
  double rows = 0, units = 0, width = 0, batches = 1;
  double split_elements = 0;   // elements of operands that are split in every call
  double kept_elements = 0;    // elements of operands that are split once
  double across_elements = 0;  // elements of x if it is split in every call and its rows are strided along k
};

struct SplitProductCost {
  double ours_us = 0;
  double pytorch_us = 0;
  bool pays = false;
};

SplitProductCost CostOfSplitProduct(const SplitProductSize& size, const GpuCosts& gpu);

}  // namespace hone

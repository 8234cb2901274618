// What a product costs as three fp16 products on Hopper's tensor cores (templates/split_gemm.cu), and what it
// costs PyTorch in float32. templates/part_split.py decides by the same formulas and figures, call by call.
#pragma once

#include "codegen/device_costs.h"

namespace hone {

// out[rows, units] = x[rows, width] w[units, width]', `batches` times.
struct SplitProductSize {
  double rows = 0, units = 0, width = 0, batches = 1;
  double split_elements = 0;   // of operands that are split in every call
  double kept_elements = 0;    // of those that are split once
  double across_elements = 0;  // of x if it is split in every call and its rows lie across k
};

struct SplitProductCost {
  double ours_us = 0;
  double pytorch_us = 0;
  bool pays = false;
};

SplitProductCost CostOfSplitProduct(const SplitProductSize& size, const GpuCosts& gpu);

}  // namespace hone

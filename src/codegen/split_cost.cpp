#include "codegen/split_cost.h"

#include <algorithm>
#include <cmath>

namespace hone {

SplitProductCost CostOfSplitProduct(const SplitProductSize& size, const GpuCosts& gpu) {
  const SplitGemmCosts& costs = gpu.split_gemm;
  const auto up = [](double value, double by) { return std::ceil(value / by); };
  const auto tile = static_cast<double>(costs.tile), depth = static_cast<double>(costs.depth),
             processors = static_cast<double>(gpu.processors);
  const double tiles = size.batches * up(size.rows, tile) * up(size.units, tile);
  const double blocks = up(size.width, depth);
  const double out_us = 4 * size.batches * size.rows * size.units / costs.bytes_per_us;
  const double most_parts = std::clamp(std::floor(blocks / static_cast<double>(costs.blocks_per_part)), 1.0,
                                       static_cast<double>(costs.most_parts));
  double product_us = 0;
  for (double parts = 1; parts <= most_parts; ++parts) {
    const double waves = up(tiles * parts, processors);
    const double flops = 6.0 * tile * tile * depth * up(blocks, parts) * processors;
    double us = waves * (flops / costs.product_flops_per_us + costs.tile_us);
    if (parts > 1) us += 2 * parts * out_us + costs.sum_us;
    if (parts == 1 || us < product_us) product_us = us;
  }
  // PyTorch's tiles are wide, too.
  const double filled = size.rows < static_cast<double>(costs.few_rows)
                            ? size.rows
                            : std::max(size.rows, static_cast<double>(costs.filled_rows));
  const double kept_us = 4 * size.kept_elements / costs.bytes_per_us;
  const double read_us = 4 * (size.split_elements + size.across_elements) / costs.bytes_per_us;
  const double split_bytes =
      costs.split_bytes * size.split_elements + costs.across_bytes * size.across_elements;
  SplitProductCost cost;
  cost.ours_us = costs.call_us + split_bytes / costs.bytes_per_us + std::max(product_us, kept_us);
  cost.pytorch_us =
      std::max(2 * size.batches * filled * size.units * size.width / costs.pytorch_flops_per_us + out_us,
               size.kept_elements > 0 ? kept_us : read_us);
  cost.pays = cost.ours_us < costs.of_pytorch * cost.pytorch_us;
  return cost;
}

}  // namespace hone

// The scales of a truth's rows and channels, for the element-wise part of a comparison (CompareShaped in
// compare.h). They depend only on the truth, so they are computed once for all answers.
#pragma once

#include <vector>

#include "evaluation/device_memory.h"
#include "evaluation/kernels/scales_core.h"
#include "evaluation/tensor_tree.h"

namespace hone {

// Which numbers form a row or a channel. A complex element counts as two numbers.
struct ShapeView {
  uint64_t numbers = 0;
  uint64_t row_length = 0;                      // 0: rows are too short to have a scale
  uint64_t outer = 0, channels = 0, inner = 0;  // channels 0: they are too small to have a scale
};

ShapeView ViewOf(Dtype dtype, uint64_t numbers, const std::vector<int64_t>& shape);

// The threshold from which values are giants: a separate group, such as a mask of -1e9, a thousand times
// larger than all other values. Infinity if there are none. `counts` has one entry per exponent of a float64.
double GiantsFrom(const std::vector<uint64_t>& counts);

// Scales on the device. The buffer holds them; addresses are 0 if a view has no such groups.
struct TruthScales {
  ShapeView view;
  double giant = 0;
  DeviceBuffer memory;
  cuda::Address typical = 0, rows = 0, channels = 0;
};

// The same on the host, with the same bits.
struct HostScales {
  ShapeView view;
  double giant = 0;
  double typical = 0;
  std::vector<double> rows, channels;
};

HostScales ScalesOnHost(Dtype dtype, Dtype truth_dtype, std::span<const std::byte> truth,
                        const std::vector<int64_t>& shape);

// The arguments for the kernel that sums groups.
kernels::GroupArgs RowsOf(const ShapeView& view, int truth_number, const void* truth, double giant);
kernels::GroupArgs ChannelsOf(const ShapeView& view, int truth_number, const void* truth, double giant);
kernels::GroupArgs WholeOf(const ShapeView& view, int truth_number, const void* truth, double giant);

kernels::Number NumberOf(Dtype dtype);

}  // namespace hone

// The scales of a truth's rows and channels, for the element-wise part of a comparison (CompareShaped in
// compare.h). They depend on the truth alone, so they are computed once and serve every answer that is
// compared with it.
#pragma once

#include <vector>

#include "evaluation/device_memory.h"
#include "evaluation/kernels/scales_core.h"
#include "evaluation/tensor_tree.h"

namespace hone {

// Which numbers form a row or a channel. A complex element is two numbers.
struct ShapeView {
  uint64_t numbers = 0;
  uint64_t row_length = 0;                      // 0: rows are too short to have a scale
  uint64_t outer = 0, channels = 0, inner = 0;  // channels 0: likewise
};

ShapeView ViewOf(Dtype dtype, uint64_t numbers, const std::vector<int64_t>& shape);

// Values at or above this are giants: a group apart, such as a mask of -1e9, a thousand times larger than
// everything else. Infinity: there are none. `counts` has one entry per exponent of a float64.
double GiantsFrom(const std::vector<uint64_t>& counts);

// On the device. The buffer holds the scales; addresses are 0 where a view has no such groups.
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

// How a view is handed to the kernel that sums groups.
kernels::GroupArgs RowsOf(const ShapeView& view, int truth_number, const void* truth, double giant);
kernels::GroupArgs ChannelsOf(const ShapeView& view, int truth_number, const void* truth, double giant);
kernels::GroupArgs WholeOf(const ShapeView& view, int truth_number, const void* truth, double giant);

kernels::Number NumberOf(Dtype dtype);

}  // namespace hone

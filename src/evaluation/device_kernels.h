// The parent's own kernels: comparison with a truth, digests, equality. They run in the parent's context on
// buffers that a worker wrote; only scalars come back. PTX is carried in the binary and compiled by the
// driver, once per process; the driver keeps the result in its own cache.
//
// Sums are float64 and in a fixed order, so answers repeat. The same functions run on the host (kernels/),
// with the same bits. Spans must be aligned to 16 bytes and lie in one mapping that the parent made.
#pragma once

#include "evaluation/compare.h"
#include "evaluation/device_memory.h"
#include "evaluation/device_scales.h"
#include "evaluation/digest.h"
#include "evaluation/kernels/compare_core.h"

namespace hone {

// What comparing gives before it becomes a Distance. Sums of two neighbouring pieces can be joined, so a
// truth that does not fit the device is compared piece by piece.
struct ComparedSums {
  kernels::ComparePartial partial;
  double largest = 0;  // largest finite |truth|: the unit of the sums
  uint64_t numbers = 0;
};

// `second` follows `first` in memory.
ComparedSums Join(const ComparedSums& first, const ComparedSums& second);
Distance DistanceOf(Dtype dtype, const ComparedSums& sums);

// What to compute beyond norms: differences against the scales of rows and channels (0 without them), and
// elements with |got - truth| > atol + rtol * |truth| (not counted while atol is negative).
template <class Scales>
struct BeyondNorms {
  const Scales* scales = nullptr;
  double atol = -1, rtol = 0;
};

// The kernels' work on the host, for tests and for machines without a GPU. Data is aligned to 16 bytes.
ComparedSums CompareOnHost(Dtype dtype, std::span<const std::byte> got, Dtype truth_dtype,
                           std::span<const std::byte> truth, const BeyondNorms<HostScales>& beyond = {});

class DeviceKernels {
 public:
  // `ptx` empty: the kernels carried in the binary.
  static Result<std::unique_ptr<DeviceKernels>> Load(std::shared_ptr<DeviceContext> context,
                                                     const std::string& ptx = "");
  ~DeviceKernels();
  DeviceKernels(const DeviceKernels&) = delete;

  // Needs up to 1.5 bytes per number of the truth while it works, and half of that afterwards (rows of 16
  // numbers; less for longer ones). `truth_dtype` is a floating one.
  Result<TruthScales> PrepareScales(Dtype dtype, Dtype truth_dtype, DeviceSpan truth,
                                    const std::vector<int64_t>& shape);
  // As Compare in compare.h, or with scales as CompareShaped. The two spans must hold the same number of
  // numbers.
  Result<ComparedSums> Compare(Dtype dtype, DeviceSpan got, Dtype truth_dtype, DeviceSpan truth,
                               const BeyondNorms<TruthScales>& beyond = {});
  Result<Digest> DigestOf(Dtype dtype, DeviceSpan data, uint64_t key);
  Result<bool> Equal(DeviceSpan a, DeviceSpan b);

 private:
  explicit DeviceKernels(std::shared_ptr<DeviceContext> context) : context_(std::move(context)) {}
  Status Launch(const char* name, unsigned blocks, void** arguments);
  // Sums the groups of a view and writes their scales; `typical` 0: the root mean square of all.
  Status SumScales(kernels::GroupArgs args, cuda::Address typical, cuda::Address scales);

  std::shared_ptr<DeviceContext> context_;
  cuda::Module module_ = nullptr;
  DeviceBuffer scratch_;  // partial results of blocks, then the whole
};

}  // namespace hone

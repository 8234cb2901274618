// The parent's own kernels: comparison with a truth, digests, equality. They run in the parent's context on
// buffers that a worker wrote, and return only scalars. The PTX is embedded in the binary. The driver
// compiles it once per process and stores the result in its own cache.
//
// Sums are float64 and in a fixed order, so results are reproducible. The same functions run on the host
// (kernels/) and give the same bits. Spans must be aligned to 16 bytes and lie in one mapping made by the
// parent.
#pragma once

#include "evaluation/compare.h"
#include "evaluation/device_memory.h"
#include "evaluation/device_scales.h"
#include "evaluation/digest.h"
#include "evaluation/kernels/compare_core.h"

namespace hone {

// The intermediate result of a comparison, before it becomes a Distance. The sums of two neighbouring pieces
// can be joined, so that a truth larger than the device's memory is compared piece by piece.
struct ComparedSums {
  kernels::ComparePartial partial;
  double largest = 0;  // largest finite |truth|, which is the unit of the sums
  uint64_t numbers = 0;
};

// `second` must follow `first` in memory.
ComparedSums Join(const ComparedSums& first, const ComparedSums& second);
Distance DistanceOf(Dtype dtype, const ComparedSums& sums);

// Comparisons beyond norms: differences relative to the scales of rows and channels (0 without scales), and
// the number of elements with |got - truth| > atol + rtol * |truth| (not counted if atol is negative).
template <class Scales>
struct BeyondNorms {
  const Scales* scales = nullptr;
  double atol = -1, rtol = 0;
};

// The same computation on the host, for tests and machines without a GPU. Data is aligned to 16 bytes.
ComparedSums CompareOnHost(Dtype dtype, std::span<const std::byte> got, Dtype truth_dtype,
                           std::span<const std::byte> truth, const BeyondNorms<HostScales>& beyond = {});

class DeviceKernels {
 public:
  // If `ptx` is empty, uses the embedded kernels.
  static Result<std::unique_ptr<DeviceKernels>> Load(std::shared_ptr<DeviceContext> context,
                                                     const std::string& ptx = "");
  ~DeviceKernels();
  DeviceKernels(const DeviceKernels&) = delete;

  // Needs up to 1.5 bytes per number of the truth temporarily, and half of that afterwards (for rows of 16
  // numbers; less for longer ones). `truth_dtype` must be a floating-point type.
  Result<TruthScales> PrepareScales(Dtype dtype, Dtype truth_dtype, DeviceSpan truth,
                                    const std::vector<int64_t>& shape);
  // Like Compare in compare.h, or CompareShaped if there are scales. Both spans must hold the same number of
  // numbers.
  Result<ComparedSums> Compare(Dtype dtype, DeviceSpan got, Dtype truth_dtype, DeviceSpan truth,
                               const BeyondNorms<TruthScales>& beyond = {});
  Result<Digest> DigestOf(Dtype dtype, DeviceSpan data, uint64_t key);
  Result<bool> Equal(DeviceSpan a, DeviceSpan b);

 private:
  explicit DeviceKernels(std::shared_ptr<DeviceContext> context) : context_(std::move(context)) {}
  Status Launch(const char* name, unsigned blocks, void** arguments);
  // Sums the groups of a view and writes their scales. If `typical` is 0, uses the root mean square of all
  // numbers.
  Status SumScales(kernels::GroupArgs args, cuda::Address typical, cuda::Address scales);

  std::shared_ptr<DeviceContext> context_;
  cuda::Module module_ = nullptr;
  DeviceBuffer scratch_;  // partial results of blocks, then the total
};

}  // namespace hone

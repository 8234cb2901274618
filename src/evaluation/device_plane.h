// The GPU part of the data plane: the parent's own access to the device, where it stores inputs, answers and
// float64 results.
//
// The parent allocates a buffer and sends a worker its descriptor (worker/hone_device.py maps it). The
// worker's kernels read inputs and write answers there. The parent compares and digests them in place, so
// only scalars are copied to the host. docs/JUDGE.md, "Data plane", says who gets which buffer.
//
// Every call blocks, without spinning, until the device has finished. Between calls the parent does nothing
// on the device, so the plane can stay open during timings. Calls from several threads run one after the
// other.
//
// If a machine does not support this, Open returns kUnavailable with a reason, and the caller moves tensors
// through the host instead.
#pragma once

#include <mutex>

#include "evaluation/device_kernels.h"
#include "evaluation/device_memory.h"

namespace hone {

class DevicePlane {
 public:
  // Takes 0.23 s on an H200, or 1.8 s if the driver must compile the kernels (it caches them on disk). If
  // `driver` is null, uses this machine's.
  static Result<std::unique_ptr<DevicePlane>> Open(int ordinal, const Driver* driver = nullptr);

  const std::string& name() const { return context_->name(); }
  // A shareable buffer can be exported. A private one stays in this process.
  Result<DeviceBuffer> Allocate(size_t bytes, bool shareable);
  Result<MemoryInfo> Memory() const { return QueryMemory(*context_); }

  Status Fill(DeviceSpan span, unsigned char byte);
  Status Copy(DeviceSpan to, DeviceSpan from);
  Status Upload(DeviceSpan to, std::span<const std::byte> from);
  Status Download(std::span<std::byte> to, DeviceSpan from);

  // Computes the scales of a truth's rows and channels, which serve every answer that is compared with it.
  Result<TruthScales> PrepareScales(Dtype dtype, Dtype truth_dtype, DeviceSpan truth,
                                    const std::vector<int64_t>& shape) {
    const std::scoped_lock alone(mutex_);
    return kernels_->PrepareScales(dtype, truth_dtype, truth, shape);
  }
  Result<Distance> Compare(Dtype dtype, DeviceSpan got, Dtype truth_dtype, DeviceSpan truth,
                           const TruthScales* scales = nullptr);
  // Returns the sums themselves: for a truth in several pieces (Join them, then DistanceOf), and for elements
  // beyond --atol and --rtol.
  Result<ComparedSums> CompareSums(Dtype dtype, DeviceSpan got, Dtype truth_dtype, DeviceSpan truth,
                                   const BeyondNorms<TruthScales>& beyond = {}) {
    const std::scoped_lock alone(mutex_);
    return kernels_->Compare(dtype, got, truth_dtype, truth, beyond);
  }
  Result<Digest> DigestOf(Dtype dtype, DeviceSpan data, uint64_t key) {
    const std::scoped_lock alone(mutex_);
    return kernels_->DigestOf(dtype, data, key);
  }
  Result<bool> Equal(DeviceSpan a, DeviceSpan b) {
    const std::scoped_lock alone(mutex_);
    return kernels_->Equal(a, b);
  }

 private:
  std::shared_ptr<DeviceContext> context_;
  std::unique_ptr<DeviceKernels> kernels_;
  std::mutex mutex_;  // the kernels share the memory for their results
};

}  // namespace hone

// The GPU half of the data plane: the parent's own access to the device, on which it keeps inputs, answers
// and float64 results.
//
// The parent allocates and hands a worker the descriptor of a buffer (worker/hone_device.py maps it); the
// worker's kernels read inputs there and write answers there; the parent compares and digests them in place.
// Nothing is copied to the host but scalars. Who gets which buffer is in docs/JUDGE.md, "Data plane".
//
// Every call waits until the device has done it, asleep. Between calls the parent does nothing on the device,
// so it can be open while somebody is timed. Calls of several threads wait for each other.
//
// Where a machine cannot do this, Open says so in one sentence (kUnavailable) and the caller moves tensors
// through the host instead.
#pragma once

#include <mutex>

#include "evaluation/device_kernels.h"
#include "evaluation/device_memory.h"

namespace hone {

class DevicePlane {
 public:
  // Takes 0.23 s on an H200, 1.8 s when the driver has not compiled the kernels before (it keeps them in its
  // cache, on disk). `driver` null: this machine's.
  static Result<std::unique_ptr<DevicePlane>> Open(int ordinal, const Driver* driver = nullptr);

  const std::string& name() const { return context_->name(); }
  // A shareable buffer can be exported; a private one is nobody else's.
  Result<DeviceBuffer> Allocate(size_t bytes, bool shareable);
  Result<MemoryInfo> Memory() const { return QueryMemory(*context_); }

  Status Fill(DeviceSpan span, unsigned char byte);
  Status Copy(DeviceSpan to, DeviceSpan from);
  Status Upload(DeviceSpan to, std::span<const std::byte> from);
  Status Download(std::span<std::byte> to, DeviceSpan from);

  // The scales of a truth's rows and channels; they serve every answer that is compared with it.
  Result<TruthScales> PrepareScales(Dtype dtype, Dtype truth_dtype, DeviceSpan truth,
                                    const std::vector<int64_t>& shape) {
    const std::scoped_lock alone(mutex_);
    return kernels_->PrepareScales(dtype, truth_dtype, truth, shape);
  }
  Result<Distance> Compare(Dtype dtype, DeviceSpan got, Dtype truth_dtype, DeviceSpan truth,
                           const TruthScales* scales = nullptr);
  // The sums themselves: for a truth that is there in pieces (Join them, then DistanceOf), and for elements
  // beyond
  // --atol and --rtol.
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
  std::mutex mutex_;  // the kernels share memory for what they return
};

}  // namespace hone

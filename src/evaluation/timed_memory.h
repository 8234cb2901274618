// Memory of the parent for timed blocks, on the host or on the device. A region is made for one block and
// handed to one process; the parent fills it, and reads it where it lies.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "evaluation/compare.h"
#include "evaluation/device_plane.h"
#include "process/shared_blob.h"
#include "process/shared_region.h"

namespace hone {

struct TimedRegion {
  size_t bytes = 0;
  size_t mapped = 0;  // what a process that maps it must ask for
  std::optional<SharedRegion> host;
  std::optional<SharedBlob> sealed;  // on the host, what a worker wrote
  DeviceBuffer device;
  UniqueFd exported;

  int fd() const { return host ? host->fd() : exported.get(); }
  std::span<const std::byte> HostBytes() const {
    return sealed ? sealed->bytes() : std::span<const std::byte>(host->bytes());
  }
};

// Answers as they were when a span ended. On the host they are copied; on the device the copy is a digest
// under a key that nobody else knows, and what has changed since does not count.
struct KeptAnswers {
  std::vector<std::byte> bytes;
  std::shared_ptr<TimedRegion> region;
  uint64_t key = 0;
  Digest digest = {};
};

// A tensor among kept answers, or a whole answer.
struct AnswerPart {
  const KeptAnswers& kept;
  size_t offset = 0;
};

class TimedMemory {
 public:
  // `plane` null: on the host.
  explicit TimedMemory(DevicePlane* plane = nullptr) : plane_(plane) {}

  bool on_device() const { return plane_ != nullptr; }
  Result<std::shared_ptr<TimedRegion>> Make(const std::string& label, size_t bytes);
  Status Fill(TimedRegion& region, unsigned char byte);
  // Copies a part of another region into this one, or compares it with what is there.
  Status Put(TimedRegion& region, size_t offset, const TimedRegion& from, size_t base, size_t bytes);
  Result<bool> Holds(const TimedRegion& region, size_t offset, const TimedRegion& other, size_t base,
                     size_t bytes);
  // To be called when a span ends: keeps what is in the region at this moment. On the host its writer must be
  // frozen.
  Result<KeptAnswers> Keep(std::shared_ptr<TimedRegion> region);
  // Whether the answers are still those that were kept.
  Result<bool> Unchanged(const KeptAnswers& kept);
  Result<Distance> Compare(Dtype dtype, AnswerPart got, AnswerPart want, size_t bytes,
                           const std::vector<int64_t>& shape = {});
  // As CountFar (compare.h).
  Result<size_t> CountFar(Dtype dtype, AnswerPart got, AnswerPart want, size_t bytes, double atol,
                          double rtol);
  // A copy of an answer whose layout is `form`, for code that compares trees.
  Result<TensorTree> TreeOf(AnswerPart answer, TensorTree form);

 private:
  DevicePlane* plane_;
};

}  // namespace hone

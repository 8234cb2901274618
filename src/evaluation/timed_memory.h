// The parent's memory for timed blocks, on the host or the device. A region is made for one block and passed
// to one process. The parent fills it and reads it in place.
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
  size_t mapped = 0;  // size that a process must map
  std::optional<SharedRegion> host;
  std::optional<SharedBlob> sealed;  // on the host, what a worker wrote
  DeviceBuffer device;
  UniqueFd exported;

  int fd() const { return host ? host->fd() : exported.get(); }
  std::span<const std::byte> HostBytes() const {
    return sealed ? sealed->bytes() : std::span<const std::byte>(host->bytes());
  }
};

// Answers as they were at the end of a span. On the host they are copied. On the device a digest under a
// secret key stands for them, so later changes are detected.
struct KeptAnswers {
  std::vector<std::byte> bytes;
  std::shared_ptr<TimedRegion> region;
  uint64_t key = 0;
  Digest digest = {};
};

// A tensor in a set of stored answers, or a whole answer.
struct AnswerPart {
  const KeptAnswers& kept;
  size_t offset = 0;
};

class TimedMemory {
 public:
  // If `plane` is null, memory is on the host.
  explicit TimedMemory(DevicePlane* plane = nullptr) : plane_(plane) {}

  bool on_device() const { return plane_ != nullptr; }
  Result<std::shared_ptr<TimedRegion>> Make(const std::string& label, size_t bytes);
  Status Fill(TimedRegion& region, unsigned char byte);
  // Put copies a part of another region into this one. Holds compares it with the present bytes.
  Status Put(TimedRegion& region, size_t offset, const TimedRegion& from, size_t base, size_t bytes);
  Result<bool> Holds(const TimedRegion& region, size_t offset, const TimedRegion& other, size_t base,
                     size_t bytes);
  // Call it at the end of a span: stores the region's present content. On the host its writer must be frozen.
  Result<KeptAnswers> Keep(std::shared_ptr<TimedRegion> region);
  // Whether the answers have not changed since they were stored.
  Result<bool> Unchanged(const KeptAnswers& kept);
  Result<Distance> Compare(Dtype dtype, AnswerPart got, AnswerPart want, size_t bytes,
                           const std::vector<int64_t>& shape = {});
  // As CountFar (compare.h).
  Result<size_t> CountFar(Dtype dtype, AnswerPart got, AnswerPart want, size_t bytes, double atol,
                          double rtol);
  // Returns a copy of an answer with the layout `form`, for code that compares trees.
  Result<TensorTree> TreeOf(AnswerPart answer, TensorTree form);

 private:
  DevicePlane* plane_;
};

}  // namespace hone

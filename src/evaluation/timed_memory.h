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
#include "process/shared_region.h"

namespace hone {

struct TimedRegion {
  size_t bytes = 0;
  size_t mapped = 0;  // what a process that maps it must ask for
  std::optional<SharedRegion> host;
  DeviceBuffer device;
  UniqueFd exported;

  int fd() const { return host ? host->fd() : exported.get(); }
};

// Answers as they were when a span ended. On the host they are copied; on the device the copy is a digest
// under a key that nobody else knows, and what has changed since does not count.
struct KeptAnswers {
  std::vector<std::byte> bytes;
  std::shared_ptr<TimedRegion> region;
  uint64_t key = 0;
  Digest digest = {};
};

class TimedMemory {
 public:
  // `plane` null: on the host.
  explicit TimedMemory(DevicePlane* plane = nullptr) : plane_(plane) {}

  bool on_device() const { return plane_ != nullptr; }
  Result<std::shared_ptr<TimedRegion>> Make(const std::string& label, size_t bytes);
  Status Fill(TimedRegion& region, unsigned char byte);
  Status Put(TimedRegion& region, size_t offset, std::span<const std::byte> bytes);
  Result<bool> Holds(const TimedRegion& region, size_t offset, std::span<const std::byte> bytes);
  // To be called when a span ends: takes hold of what is in the region at this moment. On the host its writer
  // must be frozen.
  Result<KeptAnswers> Keep(std::shared_ptr<TimedRegion> region);
  // Whether the answers are still those that were kept.
  Result<bool> Unchanged(const KeptAnswers& kept);
  Result<Distance> Compare(Dtype dtype, const KeptAnswers& got, const KeptAnswers& want, size_t offset,
                           size_t bytes, const std::vector<int64_t>& shape = {});

 private:
  DevicePlane* plane_;
};

}  // namespace hone

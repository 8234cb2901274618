// Memory of the parent that a worker may write into: a memory file of fixed size, mapped here. The worker can
// change its bytes at any time, but cannot shrink it, so reading it here is safe. What must not change any
// more while it is read belongs into a SharedBlob, or its writer must be frozen.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hone {

class SharedRegion {
 public:
  static Result<SharedRegion> Create(const std::string& label, size_t bytes);

  int fd() const { return fd_->get(); }
  std::span<std::byte> bytes() const { return bytes_; }

 private:
  struct Mapping;
  std::shared_ptr<UniqueFd> fd_;
  std::shared_ptr<Mapping> mapping_;
  std::span<std::byte> bytes_;
};

}  // namespace hone

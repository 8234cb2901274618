// Memory of the parent that a worker may write: a memory file of fixed size, mapped here. The worker can
// change its bytes at any time but cannot shrink it, so reading it is safe. To read bytes that must not
// change, use a SharedBlob or freeze the writer.
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

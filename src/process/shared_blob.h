// Bytes that pass between processes: an anonymous memory file whose descriptor is sent. It has no name, so a
// killed process leaves no file behind. The parent seals the file before it reads what a worker wrote. After
// that the worker can neither change nor shrink it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hone {

class SharedBlob {
 public:
  // An empty file for a worker to write into.
  static Result<SharedBlob> Create(const std::string& label);
  // A sealed file with these bytes, which cannot be changed.
  static Result<SharedBlob> Of(const std::string& label, std::span<const std::byte> bytes);

  int fd() const { return fd_->get(); }
  // Seals and maps the file. Fails if a writer still has a mapping, or if it is larger than `max_bytes`.
  Status Seal(size_t max_bytes = SIZE_MAX);
  // Valid after Seal.
  std::span<const std::byte> bytes() const;

 private:
  struct Mapping;
  std::shared_ptr<UniqueFd> fd_;  // shared, so that a blob can be passed by value
  std::shared_ptr<Mapping> mapping_;
};

}  // namespace hone

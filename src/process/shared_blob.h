// Bytes that travel between processes: an anonymous memory file whose descriptor is passed along. It has
// no name, so nothing is left behind when a process is killed. Before the parent reads what a worker
// wrote, it seals the file: from then on the worker can neither change nor shrink it.
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
  // A file that already holds these bytes and can never be changed again.
  static Result<SharedBlob> Of(const std::string& label, std::span<const std::byte> bytes);

  int fd() const { return fd_->get(); }
  // Seals and maps. Fails when a writer still holds a mapping, or when it is larger than `max_bytes`.
  Status Seal(size_t max_bytes = SIZE_MAX);
  // Valid after Seal.
  std::span<const std::byte> bytes() const;

 private:
  struct Mapping;
  std::shared_ptr<UniqueFd> fd_;  // shared, so that a blob can be passed by value
  std::shared_ptr<Mapping> mapping_;
};

}  // namespace hone

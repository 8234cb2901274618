// Answers the seccomp listener of one sandbox on a thread of its own. Sockets to the network are refused
// and recorded; opening a file for writing goes on to the kernel's own rules and is recorded when the path
// lies outside the private folder. What was recorded becomes the `escaped` verdict.
#pragma once

#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"
#include "base/unique_fd.h"

namespace hone {

class SyscallWatch {
 public:
  SyscallWatch(UniqueFd listener, fs::path private_folder);
  ~SyscallWatch();
  SyscallWatch(const SyscallWatch&) = delete;

  // One sentence per distinct attempt, "opened a network socket", "opened /etc/x for writing"; at most 16.
  std::vector<std::string> attempts() const;
  // Attempts before this call are forgotten (what the interpreter's own start did).
  void Forget();

 private:
  void Run();
  void Record(std::string sentence);

  UniqueFd listener_;
  UniqueFd stop_read_;
  UniqueFd stop_write_;
  fs::path private_folder_;
  mutable std::mutex mutex_;
  std::vector<std::string> attempts_;
  std::thread thread_;
};

// Whether a write to this path is nobody's business: the private folder, devices, /proc of the process
// itself, a private /tmp, byte-code caches that a read-only file system refuses anyway.
bool HarmlessWrite(const fs::path& path, const fs::path& private_folder);

}  // namespace hone

// A path as another process sees it.
//
// The other process may live in namespaces of its own and may have prepared links: in its own folder, or
// those of /proc (/proc/self/root/etc/passwd, /proc/self/fd/7). The answer is the file that is meant, in that
// process's own tree, without any link.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/files.h"

namespace hone {

class TracedProcess {
 public:
  // `thread` is a thread's id as this process sees it.
  explicit TracedProcess(pid_t thread);

  // Bytes of its memory, at most `size`, fewer where its memory ends.
  std::string Read(uint64_t address, size_t size) const;
  std::string ReadString(uint64_t address) const;
  // `folder` is one of its descriptors, or AT_FDCWD. An empty path means the folder itself. The answer is
  // empty for what has no path: a pipe, a socket, memory.
  fs::path Resolve(int folder, const std::string& path) const;
  // The same file in this process's tree: a path below /proc/PID/root.
  fs::path FromHere(const fs::path& resolved) const;

  // Process ids in its own PID namespace, and in this one.
  pid_t own_id() const { return own_id_; }
  pid_t id() const { return id_; }

 private:
  pid_t thread_;
  pid_t id_;
  pid_t own_id_;
  pid_t own_thread_;
};

}  // namespace hone

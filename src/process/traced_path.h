// Resolves a path as another process sees it.
//
// The other process may live in its own namespaces and may have prepared links, in its own folder or by those
// of /proc (/proc/self/root/etc/passwd, /proc/self/fd/7). The result is the real file in that process's tree,
// without any link.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/files.h"

namespace hone {

class TracedProcess {
 public:
  // `thread` is a thread id in this process's PID namespace.
  explicit TracedProcess(pid_t thread);

  // Reads at most `size` bytes of its memory; fewer if its memory ends.
  std::string Read(uint64_t address, size_t size) const;
  std::string ReadString(uint64_t address) const;
  // `folder` is one of its descriptors, or AT_FDCWD. An empty path means the folder itself. The result is
  // empty for a pipe, a socket or memory, which have no path.
  fs::path Resolve(int folder, const std::string& path) const;
  // The same file in this process's tree, a path below /proc/PID/root.
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

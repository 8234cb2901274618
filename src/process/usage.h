// What a process and its descendants use of a machine's memory, processes and threads, read from /proc.
// RLIMIT_AS does not work with CUDA, which reserves far more address space than it uses, so the parent looks
// again and again.
//
// Resident sets are not all: pages of a memory file that no process has mapped, of a file system in memory,
// and of descriptors on their way in a socket belong to no process. They are counted if the machine's shared
// memory grew since the watch began.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace hone {

struct TreeUsage {
  int processes = 0;
  int64_t threads = 0;
  int64_t resident_bytes = 0;  // counts shared pages once per process
};
TreeUsage UsageOfTree(pid_t root);

// Shared memory of a process tree that is in no resident set. `growth` is that of the machine's shared
// memory: it counts as the tree's if the tree keeps descriptors where nobody can look at them.
int64_t UnmappedMemory(pid_t root, int64_t growth);

struct TreeLimits {
  int processes = 0;
  int64_t threads = 0;
  int64_t memory_bytes = 0;  // 0: no limit
};

// What exceeded a limit, in one sentence, and whether it was memory (else processes or threads).
struct OverLimit {
  bool memory = false;
  std::string message;
};

class UsageWatch {
 public:
  explicit UsageWatch(pid_t root);
  std::optional<OverLimit> Look(const TreeLimits& limits);

 private:
  int64_t Unmapped();

  pid_t root_;
  int64_t least_shared_;       // of the machine, since the watch began
  int64_t looked_shared_ = 0;  // at the last closer look
  int64_t unmapped_ = 0;       // what that look found
  std::chrono::steady_clock::time_point looked_;
};

}  // namespace hone

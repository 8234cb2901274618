// Limits on things that the kernel counts per user or per machine: descriptors on their way between
// processes, threads, and memory that belongs to no process. A candidate that could use them up would make
// Hone's own calls fail, or those of the reference. These limits are lower than Hone's own, and the kernel
// enforces them; what it cannot enforce, the parent counts (usage.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files.h"

namespace hone {

struct SandboxLimits {
  int64_t descriptors = 0;  // open in one process; also those on their way in sockets, for the whole user
  int64_t threads = 0;      // in all processes of a sandbox together
  int64_t file_bytes = 0;   // size of one file, also of a memory file
  int64_t tmpfs_bytes = 0;  // size of each file system in memory
};

// What this machine and this user have. Tests pass made-up values.
struct MachineLimits {
  int64_t memory_bytes = 0;
  int64_t descriptors = 0;  // Hone's own soft limit
  int64_t threads = 0;      // the smallest of all limits that Hone's own threads are under
  int cores = 1;
};
MachineLimits ReadMachineLimits();
SandboxLimits LimitsFor(const MachineLimits& machine);
// The limits on this machine. Read once, after RaiseOwnLimits.
const SandboxLimits& LimitsOfSandboxes();

// Raises this process's soft limit on descriptors. The kernel refuses to send a descriptor if more are on
// their way in sockets of the user than the sender's soft limit allows. Call once in main.
void RaiseOwnLimits();

// The limits as words such as "NOFILE=1024", for the processes that apply them to themselves
// (sandbox_exec.cpp, hone_join.py). `own_users`: the sandbox has a user namespace, so that the kernel counts
// its threads apart from the user's others (Linux 5.14). `expendable`: 0 to 1000, how much rather than others
// the kernel ends this process when memory runs out.
std::vector<std::string> LimitWords(const SandboxLimits& limits, bool own_users, int expendable);

// Lowers this process's limits to what the words say. Never raises one. Returns false if a word is unknown or
// the kernel refuses.
bool ApplyLimitWords(const std::vector<std::string>& words);

// Writes `expendable` for another process. Lowering it again takes a privilege if this process has it.
void MakeExpendable(int pid, int expendable);

}  // namespace hone

// A process and everything below it, read from /proc: killing it whole, stopping it while another process
// is being timed, and what memory it holds. RLIMIT_AS cannot be used with CUDA, which reserves address
// space far beyond what it uses, so memory is polled instead.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace hone {

// The root first, then its descendants.
std::vector<pid_t> ProcessTree(pid_t root);

// Stops the tree first, so that a fork bomb cannot outrun the killing, and returns when nothing is left.
void KillTree(pid_t root);
// SIGSTOP to every member until no running one is found; SIGCONT to all.
void FreezeTree(pid_t root);
void ThawTree(pid_t root);

struct TreeUsage {
  int processes = 0;
  int64_t resident_bytes = 0;  // shared pages counted once per process
};
TreeUsage UsageOfTree(pid_t root);

// Adopts orphans of killed or detached children, so that they stay findable. Call once in main.
void BecomeSubreaper();
// Collects and kills adopted processes that belong to no tree below one of `keep`.
void KillStrays(const std::vector<pid_t>& keep);

}  // namespace hone

// A process and its descendants, read from /proc: kills them, stops them while another process is timed, and
// measures their memory. RLIMIT_AS does not work with CUDA, which reserves far more address space than it
// uses, so memory is polled instead.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace hone {

// The root first, then its descendants.
std::vector<pid_t> ProcessTree(pid_t root);

// Stops the tree first, so that a fork bomb cannot outrun the killing. Returns when no process is left.
void KillTree(pid_t root);
// FreezeTree sends SIGSTOP until it finds no running member. ThawTree sends SIGCONT to all.
void FreezeTree(pid_t root);
void ThawTree(pid_t root);

struct TreeUsage {
  int processes = 0;
  int64_t resident_bytes = 0;  // counts shared pages once per process
};
TreeUsage UsageOfTree(pid_t root);

// Makes this process adopt orphans of killed or detached children, so that it can find them. Call once in
// main.
void BecomeSubreaper();
// Kills and collects adopted processes that belong to no tree below one of `keep`.
void KillStrays(const std::vector<pid_t>& keep);

}  // namespace hone

// A process and its descendants, read from /proc: kills them, and stops them while another process is timed.
// usage.h measures what they use.
#pragma once

#include <sys/types.h>

#include <vector>

namespace hone {

// The root first, then its descendants.
std::vector<pid_t> ProcessTree(pid_t root);

// Stops the tree first, so that a fork bomb cannot outrun the killing. Returns when no process is left.
void KillTree(pid_t root);
// FreezeTree sends SIGSTOP until it finds no running member. ThawTree sends SIGCONT to all.
void FreezeTree(pid_t root);
void ThawTree(pid_t root);

// Makes this process adopt orphans of killed or detached children, so that it can find them. Call once in
// main.
void BecomeSubreaper();
// Kills and collects adopted processes that belong to no tree below one of `keep`.
void KillStrays(const std::vector<pid_t>& keep);

}  // namespace hone

// Who works on a run: one process at a time holds a lock that goes with it, however it ends. So "running" in
// the store and no lock means killed.
#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "base/unique_fd.h"
#include "store/run_store.h"

namespace hone {

// Waits up to `patience_s`: whoever asks whether a run is abandoned holds the lock for an instant.
Result<UniqueFd> LockRun(int64_t id, double patience_s);

// "running" in the store, and nobody is working on it.
bool IsAbandoned(const RunRecord& run);

// The process that holds the run's lock, as the kernel tells it; 0: none, or not visible from here.
pid_t WorkerOf(int64_t id);

}  // namespace hone

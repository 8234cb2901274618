// The lock of a run. The process that executes a run holds it until it ends in any way. A run that is
// "running" in the store without a lock was therefore killed.
#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "base/unique_fd.h"
#include "store/run_store.h"

namespace hone {

// Waits up to `patience_s`, because a process that tests whether a run is abandoned holds the lock for an
// instant.
Result<UniqueFd> LockRun(int64_t id, double patience_s);

// True if the run is "running" in the store but no process executes it.
bool IsAbandoned(const RunRecord& run);

// The process that holds the run's lock, as the kernel reports it; 0: none, or not visible from here.
pid_t WorkerOf(int64_t id);

}  // namespace hone

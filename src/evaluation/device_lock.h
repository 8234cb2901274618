// Only one timing at a time on a device, across all Hone processes of this machine: two contests side by side
// would measure each other. Other work on a GPU (float64 results, trials, preparing baselines) would disturb
// a timing as well. It holds a shared lock (DeviceUse), and a timing (DeviceLock) waits until no process
// holds one.
//
// The lock is one file for all users. Locking needs no right to write it, so a file that another user made
// serves as well. Where even reading it is forbidden, a file of this user's own is locked, and the person who
// waits is told that other users' timings may disturb this one. A second file, the gate, is held by a process
// that waits for a timing. A process that begins a use must pass it first, so that a stream of uses cannot
// keep a timing waiting for ever.
//
// Each GPU has files of its own, named by its identity (visible_gpus.h). All processors of the machine are
// one device: what runs on some of them slows the others down.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "evaluation/progress.h"

namespace hone {

class DeviceLock {
 public:
  // Waits for its turn. What this process holds as DeviceUse is given up until the lock goes. If it cannot be
  // taken back then, `progress` is told; it must outlive the lock. An Error on Ctrl-C, past `end`, and where
  // no file can be locked at all.
  static Result<DeviceLock> Take(const std::string& device, Deadline end, const Progress& progress,
                                 const fs::path& folder = "/tmp");

 private:
  std::shared_ptr<void> ended_;  // destroyed after the file is closed: takes back what was given up
  UniqueFd file_;
};

// While one of these lives, no other process times anything on the GPU. On a CPU it does nothing. Within a
// process they may overlap.
class DeviceUse {
 public:
  static Result<DeviceUse> Begin(const std::string& device, Deadline end, const Progress& progress,
                                 const fs::path& folder = "/tmp");

 private:
  std::shared_ptr<void> ended_;
};

}  // namespace hone

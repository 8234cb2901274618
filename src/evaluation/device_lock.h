// Allows only one timing at a time on a device, across all Hone processes of this machine, because two
// contests side by side would disturb each other. Other work on a GPU (float64 results, trials, preparing
// baselines) would disturb a timing too. Such work holds a shared lock (DeviceUse), and a timing (DeviceLock)
// waits until no process holds one.
//
// The lock is one file for all users. Locking needs no write permission, so a file of another user works too.
// If this user may not even read it, Hone locks a separate file and warns that other users' timings may
// disturb this one. A process that waits for a timing holds a second file, the gate. A process that begins a
// use must pass the gate first, so that a stream of uses cannot delay a timing for ever.
//
// Each GPU has its own files, named by its identity (visible_gpus.h). All processors of the machine are one
// device, because load on some of them slows the others down.
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
  // Waits for the lock. Until the lock is released, this process's DeviceUse is suspended. If it cannot be
  // resumed then, `progress` is told. Returns an Error on Ctrl-C, past `end`, and if no file can be locked.
  static Result<DeviceLock> Take(const std::string& device, Deadline end, const Progress& progress,
                                 const fs::path& folder = "/tmp");

 private:
  std::shared_ptr<void> ended_;  // destroyed after the file is closed: resumes the suspended use
  UniqueFd file_;
};

// While an object of this class lives, no other process times anything on the GPU. On a CPU it does nothing.
// Uses within one process may overlap.
class DeviceUse {
 public:
  static Result<DeviceUse> Begin(const std::string& device, Deadline end, const Progress& progress,
                                 const fs::path& folder = "/tmp");

 private:
  std::shared_ptr<void> ended_;
};

}  // namespace hone

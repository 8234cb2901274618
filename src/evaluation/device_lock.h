// Only one timing at a time on a device, across all Hone processes of this machine: two contests side by
// side would measure each other.
//
// The lock is one file for all users. Locking needs no right to write it, so a file that another user made
// serves as well. Where even reading it is forbidden, a file of this user's own is locked, and the person who
// waits is told that other users' timings may disturb this one.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "evaluation/progress.h"

namespace hone {

class DeviceLock {
 public:
  // Waits for its turn. An Error on Ctrl-C, past `end`, and where no file can be locked at all.
  static Result<DeviceLock> Take(const std::string& device, Deadline end, const Progress& progress,
                                 const fs::path& folder = "/tmp");

 private:
  UniqueFd file_;
};

}  // namespace hone

// Only one timing at a time on a device, across all Hone processes of this machine: two contests side by
// side would measure each other.
#pragma once

#include "base/result.h"
#include "base/unique_fd.h"
#include "evaluation/progress.h"

namespace hone {

class DeviceLock {
 public:
  // Waits for its turn; an Error only on Ctrl-C. Where no lock file can be made there is no lock.
  static Result<DeviceLock> Take(const std::string& device, const Progress& progress);

 private:
  UniqueFd file_;
};

}  // namespace hone

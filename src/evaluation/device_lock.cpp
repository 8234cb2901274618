#include "evaluation/device_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include "base/interrupt.h"

namespace hone {

Result<DeviceLock> DeviceLock::Take(const std::string& device, const Progress& progress) {
  DeviceLock lock;
  // Shared by all users of the machine, so not in anybody's home.
  const std::string path = "/tmp/hone-" + device + ".lock";
  lock.file_ = UniqueFd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!lock.file_.valid()) return lock;
  while (flock(lock.file_.get(), LOCK_EX | LOCK_NB) != 0) {
    progress("waiting for another hone to finish timing", 0, 0);
    if (!SleepUnlessInterrupted(0.05)) return InterruptedError();
  }
  return lock;
}

}  // namespace hone

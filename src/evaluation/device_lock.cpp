#include "evaluation/device_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/interrupt.h"

namespace hone {

namespace {

// Opens without O_CREAT first: in a sticky folder Linux refuses O_CREAT for a file that somebody else owns
// (fs.protected_regular), whatever its mode says.
UniqueFd OpenOrMake(const fs::path& path, mode_t mode) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW;
  for (int attempt = 0; attempt < 3; ++attempt) {
    UniqueFd file(open(path.c_str(), kFlags));
    if (file.valid() || errno != ENOENT) return file;
    file = UniqueFd(open(path.c_str(), kFlags | O_CREAT | O_EXCL, mode));
    if (file.valid()) fchmod(file.get(), mode);  // whatever the umask is: others must be able to read it
    if (file.valid() || errno != EEXIST) return file;
  }
  return UniqueFd();
}

}  // namespace

Result<DeviceLock> DeviceLock::Take(const std::string& device, Deadline end, const Progress& progress,
                                    const fs::path& folder) {
  DeviceLock lock;
  // Shared by all users of the machine, so not in anybody's home.
  const fs::path shared = folder / ("hone-" + device + ".lock");
  lock.file_ = OpenOrMake(shared, 0644);
  if (!lock.file_.valid()) {
    const Error why = ErrnoError("cannot open " + shared.string());
    const fs::path own = folder / ("hone-" + device + "-" + std::to_string(geteuid()) + ".lock");
    lock.file_ = OpenOrMake(own, 0600);
    if (!lock.file_.valid())
      return Error{ErrorKind::kIo, "cannot keep other processes from timing at the same time: " +
                                       why.message + "; " + ErrnoError("nor " + own.string()).message};
    progress(why.message + ": Hone will not wait for timings of other users", 0, 0);
  }
  while (flock(lock.file_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return ErrnoError("cannot lock the device " + device);
    progress("waiting for another Hone process to finish timing", 0, 0);
    if (end.passed()) return OutOfTimeError();
    if (!SleepUnlessInterrupted(0.05)) return InterruptedError();
  }
  return lock;
}

}  // namespace hone

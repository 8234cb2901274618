#include "evaluation/device_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <mutex>

#include "base/interrupt.h"
#include "evaluation/visible_gpus.h"

namespace hone {

namespace {

// This process's hold on a device. `file` has a shared lock while the process uses the device without timing.
struct DeviceHold {
  std::mutex mutex;
  int uses = 0, timings = 0;
  UniqueFd file;
};

constexpr char kWaits[] = "waiting for another Hone process to finish timing";
constexpr char kWaitsForUses[] = "waiting for another Hone process to leave the device alone";
constexpr double kPollS = 0.01;

std::shared_ptr<DeviceHold> HoldOf(const fs::path& path) {
  static std::mutex mutex;
  static std::map<fs::path, std::shared_ptr<DeviceHold>> holds;
  const std::scoped_lock lock(mutex);
  std::shared_ptr<DeviceHold>& hold = holds[path];
  if (hold == nullptr) hold = std::make_shared<DeviceHold>();
  return hold;
}

// Opens without O_CREAT first. In a sticky folder Linux refuses O_CREAT for another user's file
// (fs.protected_regular), whatever its mode is.
UniqueFd OpenOrMake(const fs::path& path, mode_t mode) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW;
  for (int attempt = 0; attempt < 3; ++attempt) {
    UniqueFd file(open(path.c_str(), kFlags));
    if (file.valid() || errno != ENOENT) return file;
    file = UniqueFd(open(path.c_str(), kFlags | O_CREAT | O_EXCL, mode));
    if (file.valid()) fchmod(file.get(), mode);  // independent of the umask, because other users must read it
    if (file.valid() || errno != EEXIST) return file;
  }
  return UniqueFd();
}

// Opens the file for all users, or else a file of this user.
Result<UniqueFd> OpenLockFile(const fs::path& folder, const std::string& name, const std::string& ending,
                              const Progress& progress) {
  const fs::path shared = folder / (name + ending);
  UniqueFd file = OpenOrMake(shared, 0644);
  if (file.valid()) return file;
  const Error why = ErrnoError("cannot open " + shared.string());
  const fs::path own = folder / (name + "-" + std::to_string(geteuid()) + ending);
  file = OpenOrMake(own, 0600);
  if (!file.valid())
    return Error{ErrorKind::kIo, "cannot keep other processes from timing at the same time: " + why.message +
                                     "; " + ErrnoError("nor " + own.string()).message};
  progress(why.message + ": Hone will not wait for timings of other users", 0, 0);
  return file;
}

Status Lock(int file, int how, const char* waits, Deadline end, const Progress& progress) {
  while (flock(file, how | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return ErrnoError("cannot lock the device");
    progress(waits, 0, 0);
    if (end.passed()) return OutOfTimeError();
    if (!SleepUnlessInterrupted(kPollS)) return InterruptedError();
  }
  return Ok();
}

// Passes the gate and locks the device, shared (LOCK_SH) or exclusive (LOCK_EX).
Result<UniqueFd> LockDevice(const fs::path& folder, const std::string& name, int how, Deadline end,
                            const Progress& progress) {
  HONE_ASSIGN_OR_RETURN(const UniqueFd gate, OpenLockFile(folder, name, ".gate", progress));
  HONE_RETURN_IF_ERROR(Lock(gate.get(), how, kWaits, end, progress));
  HONE_ASSIGN_OR_RETURN(UniqueFd file, OpenLockFile(folder, name, ".lock", progress));
  HONE_RETURN_IF_ERROR(Lock(file.get(), how, how == LOCK_EX ? kWaitsForUses : kWaits, end, progress));
  return file;
}

std::string NameOf(const std::string& device) {
  return "hone-" + (device == "cuda" ? NameOfUsedGpu() : device);
}

}  // namespace

Result<DeviceLock> DeviceLock::Take(const std::string& device, Deadline end, const Progress& progress,
                                    const fs::path& folder) {
  const std::string name = NameOf(device);
  const std::shared_ptr<DeviceHold> hold = HoldOf(folder / name);
  DeviceLock lock;
  {
    const std::scoped_lock guard(hold->mutex);
    if (++hold->timings == 1) hold->file.Close();
  }
  lock.ended_ = std::shared_ptr<void>(nullptr, [hold, folder, name, progress](void*) {
    const std::scoped_lock guard(hold->mutex);
    if (--hold->timings > 0 || hold->uses == 0) return;
    Result<UniqueFd> again = LockDevice(folder, name, LOCK_SH, Deadline::Never(), progress);
    if (again.ok())
      hold->file = std::move(*again);
    else if (again.error().kind != ErrorKind::kInterrupted)  // else this process ends, and its uses with it
      progress(again.error().message + ": this work may disturb the timings of other Hone processes", 0, 0);
  });
  HONE_ASSIGN_OR_RETURN(lock.file_, LockDevice(folder, name, LOCK_EX, end, progress));
  return lock;
}

Result<DeviceUse> DeviceUse::Begin(const std::string& device, Deadline end, const Progress& progress,
                                   const fs::path& folder) {
  DeviceUse use;
  if (device != "cuda") return use;
  const std::string name = NameOf(device);
  const std::shared_ptr<DeviceHold> hold = HoldOf(folder / name);
  const std::scoped_lock guard(hold->mutex);
  if (hold->uses == 0 && hold->timings == 0) {
    HONE_ASSIGN_OR_RETURN(hold->file, LockDevice(folder, name, LOCK_SH, end, progress));
  }
  ++hold->uses;
  use.ended_ = std::shared_ptr<void>(nullptr, [hold](void*) {
    const std::scoped_lock ending(hold->mutex);
    if (--hold->uses == 0) hold->file.Close();
  });
  return use;
}

}  // namespace hone

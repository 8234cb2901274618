#include "pipeline/run_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cstdio>

#include "base/clock.h"
#include "base/files.h"
#include "base/interrupt.h"
#include "base/text.h"

namespace hone {

namespace {

fs::path LockPath(int64_t id) {
  return DataFolder() / "locks" / fmt::format("run{}.lock", id);
}

}  // namespace

Result<UniqueFd> LockRun(int64_t id, double patience_s) {
  const fs::path path = LockPath(id);
  HONE_RETURN_IF_ERROR(MakeFolders(path.parent_path()));
  UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid()) return ErrnoError("cannot open " + path.string());
  const Deadline deadline = Deadline::After(patience_s);
  while (flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    if (deadline.passed() || !SleepUnlessInterrupted(0.02))
      return Error{ErrorKind::kUnavailable, "another hone is working on this run; see it with: hone show"};
  return file;
}

bool IsAbandoned(const RunRecord& run) {
  if (run.status != "running") return false;
  const UniqueFd file(open(LockPath(run.id).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  // A shared lock, so that two processes that test at the same time do not mistake each other for the worker.
  return !file.valid() || flock(file.get(), LOCK_SH | LOCK_NB) == 0;
}

pid_t WorkerOf(int64_t id) {
  struct stat info {};
  if (stat(LockPath(id).c_str(), &info) != 0) return 0;
  const Result<std::string> locks = ReadFile("/proc/locks");
  if (!locks.ok()) return 0;
  const std::string file =
      fmt::format("{:02x}:{:02x}:{}", major(info.st_dev), minor(info.st_dev), info.st_ino);
  for (const std::string& line : Lines(*locks)) {
    // Parses lines such as "1: FLOCK  ADVISORY  WRITE 708 08:01:1234 0 EOF".
    char kind[16] = "";
    char access[16] = "";
    char where[64] = "";
    int pid = 0;
    if (std::sscanf(line.c_str(), "%*s %15s %*s %15s %d %63s", kind, access, &pid, where) == 4 &&
        std::string_view(kind) == "FLOCK" && std::string_view(access) == "WRITE" && where == file)
      return pid > 0 ? pid : 0;
  }
  return 0;
}

}  // namespace hone

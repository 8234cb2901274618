#include "process/sandbox_mounts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "base/files.h"
#include "base/text.h"
#include "base/unique_fd.h"

namespace hone {

namespace {

// Numbers and flags of the newer mount calls; Debian 12's headers do not have all of them.
constexpr long kOpenTree = 428, kMoveMount = 429, kMountSetattr = 442;
constexpr unsigned kCloneTree = 1, kMoveEmptyFrom = 4, kRecursive = 0x8000;
constexpr uint64_t kReadOnly = 1, kNoSetuid = 2;

struct MountAttributes {
  uint64_t set = 0, clear = 0, propagation = 0, user_namespace = 0;
};

bool Change(const char* path, unsigned flags, const MountAttributes& attributes) {
  return syscall(kMountSetattr, AT_FDCWD, path, flags, &attributes, sizeof attributes) == 0;
}

// Makes the kernel settings below /proc read-only. The CUDA driver needs the rest of /proc: correct process
// ids, and permission to name its threads.
bool MountOwnProc() {
  if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) return false;
  for (const char* path :
       {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/acpi", "/proc/scsi"}) {
    if (access(path, F_OK) != 0) continue;
    if (mount(path, path, nullptr, MS_BIND | MS_REC, nullptr) != 0 ||
        mount(nullptr, path, nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
              nullptr) != 0)
      return false;
  }
  return true;
}

// A tree that is detached before its mount point is covered, and attached again on top.
struct Kept {
  std::string path;
  UniqueFd tree;
  bool folder = false;
};

bool IsBelow(const std::string& path, const char* place) {
  return StartsWith(path, std::string(place) + "/");
}

bool PutBack(const Kept& kept) {
  std::error_code code;
  if (kept.folder) {
    fs::create_directories(kept.path, code);
  } else {
    fs::create_directories(fs::path(kept.path).parent_path(), code);
    UniqueFd made(open(kept.path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  }
  return syscall(kMoveMount, kept.tree.get(), "", AT_FDCWD, kept.path.c_str(), kMoveEmptyFrom) == 0;
}

}  // namespace

std::string MakePrivateMounts(const MountPlan& plan) {
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return "cannot make mounts private";
  std::vector<std::string> wanted = plan.readable;
  wanted.push_back(plan.writable);
  wanted.emplace_back("/run/nvidia-persistenced");
  std::vector<Kept> kept;
  const std::vector<const char*> covered = {"/tmp", "/var/tmp", "/dev/shm", "/run"};
  for (const std::string& path : wanted) {
    bool hidden = path == plan.writable;  // its own mount, so that it alone can be made writable
    for (const char* place : covered) hidden = hidden || IsBelow(path, place);
    if (path.empty() || !hidden || access(path.c_str(), F_OK) != 0) continue;
    UniqueFd tree(
        static_cast<int>(syscall(kOpenTree, AT_FDCWD, path.c_str(), kCloneTree | kRecursive | O_CLOEXEC)));
    if (!tree.valid()) return "cannot keep " + path;
    kept.push_back({path, std::move(tree), fs::is_directory(path)});
  }
  for (const char* place : covered) {
    std::error_code code;
    if (!fs::is_directory(place, code) || fs::is_symlink(place, code)) continue;
    const std::string options =
        fmt::format("mode={},size={}", std::string(place) == "/run" ? "0755" : "1777", plan.tmpfs_bytes);
    if (mount("tmpfs", place, "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) != 0)
      return std::string("cannot cover ") + place;
  }
  for (const Kept& one : kept)
    if (!PutBack(one)) return "cannot put back " + one.path;
  if (!Change("/", kRecursive, {.set = kReadOnly | kNoSetuid}))
    return "cannot make the file system read-only";
  std::vector<std::string> writable(std::begin(kPrivatePlaces), std::end(kPrivatePlaces));
  if (!plan.writable.empty()) writable.push_back(plan.writable);
  for (const std::string& path : writable)
    if (access(path.c_str(), F_OK) == 0 && !Change(path.c_str(), 0, {.clear = kReadOnly}) && errno != EINVAL)
      return "cannot make " + path + " writable";
  if (!MountOwnProc()) return "cannot mount /proc";
  // The working folder still refers to the folder below the new mounts.
  std::error_code code;
  const fs::path here = fs::current_path(code);
  if (!code && chdir(here.c_str()) != 0 && chdir("/") != 0) return "cannot enter the working folder again";
  return "";
}

}  // namespace hone

#include "process/usage.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "base/unique_fd.h"
#include "process/tree.h"

namespace hone {

namespace {

// Below this growth of the machine's shared memory no closer look is worth its time.
constexpr int64_t kLookCloser = int64_t{64} << 20;
constexpr std::chrono::milliseconds kLookAgain{500};

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
struct FolderCloser {
  void operator()(DIR* folder) const { closedir(folder); }
};
using OpenFile = std::unique_ptr<std::FILE, FileCloser>;
using OpenFolder = std::unique_ptr<DIR, FolderCloser>;

OpenFile OpenProc(pid_t pid, const char* name) {
  return OpenFile(std::fopen(fmt::format("/proc/{}/{}", pid, name).c_str(), "re"));
}

int64_t SharedMemoryOfMachine() {
  const OpenFile file(std::fopen("/proc/meminfo", "re"));
  char line[256];
  while (file && std::fgets(line, sizeof line, file.get()) != nullptr)
    if (StartsWith(line, "Shmem:")) return std::strtoll(line + 6, nullptr, 10) * 1024;
  return 0;
}

struct ProcessStatus {
  int64_t shared_bytes = 0;         // resident pages of shared memory
  bool first_of_namespace = false;  // of a PID namespace below this process's own
};

ProcessStatus ReadStatus(pid_t pid) {
  ProcessStatus status;
  const OpenFile file = OpenProc(pid, "status");
  char line[256];
  while (file && std::fgets(line, sizeof line, file.get()) != nullptr) {
    if (StartsWith(line, "RssShmem:")) status.shared_bytes = std::strtoll(line + 9, nullptr, 10) * 1024;
    if (!StartsWith(line, "NSpid:")) continue;
    const std::string numbers(Trim(line + 6));
    status.first_of_namespace = EndsWith(numbers, "\t1");
  }
  return status;
}

int64_t ResidentBytes(pid_t pid) {
  static const long kPage = sysconf(_SC_PAGESIZE);
  const OpenFile file = OpenProc(pid, "statm");
  long long resident = 0;
  return file && std::fscanf(file.get(), "%*s %lld", &resident) == 1 ? resident * kPage : 0;
}

// The twentieth number of /proc/PID/stat. The name in parentheses may hold any character.
int64_t ThreadCount(pid_t pid) {
  const OpenFile file = OpenProc(pid, "stat");
  if (!file) return 0;
  char text[1024];
  text[std::fread(text, 1, sizeof text - 1, file.get())] = '\0';
  const char* after = std::strrchr(text, ')');
  long long threads = 0;
  if (after == nullptr ||
      std::sscanf(after + 1, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lld",
                  &threads) != 1)
    return 0;
  return threads;
}

// The kernel's own file system for memory files and shared anonymous memory.
dev_t DeviceOfMemoryFiles() {
  static const dev_t device = [] {
    const UniqueFd file(memfd_create("hone-device", MFD_CLOEXEC));
    struct stat info {};
    return file.valid() && fstat(file.get(), &info) == 0 ? info.st_dev : dev_t{0};
  }();
  return device;
}

// The shared memory that a process tree holds, each object once.
class SharedObjects {
 public:
  void AddProcess(pid_t pid) {
    AddDescriptors(pid);
    AddMappings(pid);
    AddFileSystems(pid);
  }
  int64_t bytes() const {
    int64_t total = 0;
    for (const auto& [inode, size] : files_) total += size;
    for (const auto& [inode, size] : mapped_)
      if (files_.count(inode) == 0) total += size;
    for (const auto& [device, size] : file_systems_) total += size;
    return total;
  }
  // Whether it holds descriptors that nobody can look at.
  bool hides() const { return hides_; }

 private:
  void AddDescriptors(pid_t pid) {
    const OpenFolder folder(opendir(fmt::format("/proc/{}/fd", pid).c_str()));
    if (!folder) {
      hides_ = hides_ || errno == EACCES || errno == EPERM;
      return;
    }
    while (const dirent* item = readdir(folder.get())) {
      struct stat info {};
      if (item->d_name[0] == '.' || fstatat(dirfd(folder.get()), item->d_name, &info, 0) != 0) continue;
      if (S_ISREG(info.st_mode) && info.st_dev == DeviceOfMemoryFiles())
        files_[info.st_ino] = static_cast<int64_t>(info.st_blocks) * 512;
      if (S_ISSOCK(info.st_mode)) hides_ = hides_ || HasDescriptorsInside(pid, item->d_name);
    }
  }

  // Whether a socket has received descriptors that were not taken out.
  static bool HasDescriptorsInside(pid_t pid, const char* number) {
    const OpenFile file = OpenProc(pid, fmt::format("fdinfo/{}", number).c_str());
    char line[256];
    while (file && std::fgets(line, sizeof line, file.get()) != nullptr)
      if (StartsWith(line, "scm_fds:")) return std::atoi(line + 8) > 0;
    return false;
  }

  // A memory file may stay mapped after its descriptor was closed, and its pages may stay without being in a
  // resident set. How many there are is unknown, so all of the mapped part counts.
  void AddMappings(pid_t pid) {
    const OpenFile file = OpenProc(pid, "maps");
    char line[8192];
    while (file && std::fgets(line, sizeof line, file.get()) != nullptr) {
      unsigned long long begin = 0, end = 0, offset = 0, inode = 0;
      unsigned major = 0, minor = 0;
      if (std::sscanf(line, "%llx-%llx %*s %llx %x:%x %llu", &begin, &end, &offset, &major, &minor, &inode) !=
          6)
        continue;
      if (inode == 0 || makedev(major, minor) != DeviceOfMemoryFiles()) continue;
      int64_t& size = mapped_[inode];
      size = std::max(size, static_cast<int64_t>(offset + (end - begin)));
    }
  }

  void AddFileSystems(pid_t pid) {
    for (const char* place : {"/tmp", "/var/tmp", "/dev/shm", "/run", "/dev", "/"}) {
      const std::string theirs = fmt::format("/proc/{}/root{}", pid, place);
      struct stat inside {
      }, here{};
      struct statvfs space {};
      if (stat(theirs.c_str(), &inside) != 0 || file_systems_.count(inside.st_dev) != 0) continue;
      if (stat(place, &here) == 0 && here.st_dev == inside.st_dev) continue;  // this one is not private
      if (statvfs(theirs.c_str(), &space) != 0 || !IsInMemory(theirs)) continue;
      file_systems_[inside.st_dev] = static_cast<int64_t>((space.f_blocks - space.f_bfree) * space.f_frsize);
    }
  }

  static bool IsInMemory(const std::string& path) {
    struct statfs kind {};
    return statfs(path.c_str(), &kind) == 0 && kind.f_type == TMPFS_MAGIC;
  }

  std::map<uint64_t, int64_t> files_;   // bytes by inode
  std::map<uint64_t, int64_t> mapped_;  // bytes by inode
  std::map<dev_t, int64_t> file_systems_;
  bool hides_ = false;
};

}  // namespace

TreeUsage UsageOfTree(pid_t root) {
  TreeUsage usage;
  for (const pid_t pid : ProcessTree(root)) {
    ++usage.processes;
    usage.threads += ThreadCount(pid);
    usage.resident_bytes += ResidentBytes(pid);
  }
  return usage;
}

int64_t UnmappedMemory(pid_t root, int64_t growth) {
  std::vector<pid_t> foreign;
  int64_t resident = 0;
  bool own_namespace = false;
  for (const pid_t pid : ProcessTree(root)) {
    const ProcessStatus status = ReadStatus(pid);
    resident += status.shared_bytes;
    own_namespace = own_namespace || status.first_of_namespace;
    if (!status.first_of_namespace) foreign.push_back(pid);
  }
  // Outside of the namespace, and as its first process, there is only Hone's own helper or bubblewrap. Nobody
  // may look at their descriptors.
  if (own_namespace && !foreign.empty() && foreign[0] == root) foreign.erase(foreign.begin());
  SharedObjects objects;
  for (const pid_t pid : foreign) objects.AddProcess(pid);
  const int64_t held = objects.hides() ? std::max(objects.bytes(), growth) : objects.bytes();
  return std::max<int64_t>(0, held - resident);
}

UsageWatch::UsageWatch(pid_t root) : root_(root), least_shared_(SharedMemoryOfMachine()) {}

int64_t UsageWatch::Unmapped() {
  const int64_t shared = SharedMemoryOfMachine();
  least_shared_ = std::min(least_shared_, shared);
  const int64_t growth = shared - least_shared_;
  if (growth < kLookCloser) return 0;
  const auto now = std::chrono::steady_clock::now();
  if (std::abs(shared - looked_shared_) < kLookCloser && now - looked_ < kLookAgain) return unmapped_;
  looked_ = now;
  looked_shared_ = shared;
  unmapped_ = UnmappedMemory(root_, growth);
  return unmapped_;
}

std::optional<OverLimit> UsageWatch::Look(const TreeLimits& limits) {
  const TreeUsage usage = UsageOfTree(root_);
  const int64_t unmapped = limits.memory_bytes > 0 ? Unmapped() : 0;
  const int64_t bytes = usage.resident_bytes + unmapped;
  const auto human = [](int64_t size) { return HumanBytes(static_cast<double>(size)); };
  if (limits.memory_bytes > 0 && bytes > limits.memory_bytes)
    return OverLimit{true,
                     fmt::format("took {} of memory{} where {} are allowed", human(bytes),
                                 unmapped > kLookCloser
                                     ? fmt::format(" ({} in memory files, file systems in memory or sockets)",
                                                   human(unmapped))
                                     : "",
                                 human(limits.memory_bytes))};
  if (usage.processes > limits.processes)
    return OverLimit{
        false, fmt::format("started {} processes where {} are allowed", usage.processes, limits.processes)};
  if (usage.threads > limits.threads)
    return OverLimit{false,
                     fmt::format("started {} threads where {} are allowed", usage.threads, limits.threads)};
  return std::nullopt;
}

}  // namespace hone

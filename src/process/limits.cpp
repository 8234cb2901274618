#include "process/limits.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>

#include "base/text.h"

namespace hone {

namespace {

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();
constexpr int64_t kMiB = int64_t{1} << 20;
// Hone needs four times what a candidate may send, because several candidates may run at once.
constexpr int64_t kOwnDescriptors = 16384, kMostDescriptors = 4096, kLeastDescriptors = 256;
// PyTorch starts one thread per core and pool; compilers run in dozens of processes.
constexpr int64_t kUsualThreads = 4096, kThreadsPerCore = 32, kLeastThreads = 128;
constexpr int64_t kMostTmpfs = 2048 * kMiB, kLeastTmpfs = 64 * kMiB;

struct NamedLimit {
  const char* name;
  int resource;
};
constexpr NamedLimit kNamedLimits[] = {
    {"NOFILE", RLIMIT_NOFILE}, {"NPROC", RLIMIT_NPROC}, {"FSIZE", RLIMIT_FSIZE}, {"CORE", RLIMIT_CORE}};
constexpr const char* kExpendable = "EXPENDABLE";

// A number in a file of /proc or /sys; kUnlimited if it is missing or says "max".
int64_t NumberIn(const fs::path& file) {
  std::ifstream in(file);
  int64_t number = 0;
  return in >> number ? number : kUnlimited;
}

// The limit on threads of the cgroups that this process is in.
int64_t ThreadsOfGroups() {
  int64_t least = kUnlimited;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::vector<std::string> parts = Split(line, ':');
    if (parts.size() < 3) continue;
    fs::path root;
    if (parts[1].empty()) root = "/sys/fs/cgroup";
    if (parts[1] == "pids") root = "/sys/fs/cgroup/pids";
    if (root.empty()) continue;
    fs::path group = root / fs::path(parts[2]).relative_path();
    for (; StartsWith(group.string(), root.string()); group = group.parent_path())
      least = std::min(least, NumberIn(group / "pids.max"));
  }
  return least;
}

int64_t SoftLimit(int resource) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return kUnlimited;
  return static_cast<int64_t>(std::min<rlim_t>(limit.rlim_cur, static_cast<rlim_t>(kUnlimited)));
}

bool CountsThreadsPerNamespace() {
  utsname system{};
  int major = 0, minor = 0;
  return uname(&system) == 0 && std::sscanf(system.release, "%d.%d", &major, &minor) == 2 &&
         (major > 5 || (major == 5 && minor >= 14));
}

bool WriteWord(const std::string& file, const std::string& word) {
  const int fd = open(file.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = write(fd, word.data(), word.size()) == static_cast<ssize_t>(word.size());
  close(fd);
  return written;
}

bool Lower(int which, int64_t value) {
  const auto resource = static_cast<__rlimit_resource_t>(which);
  rlimit limit{};
  if (value < 0 || getrlimit(resource, &limit) != 0) return false;
  limit.rlim_max = std::min(limit.rlim_max, static_cast<rlim_t>(value));
  limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
  return setrlimit(resource, &limit) == 0;
}

}  // namespace

MachineLimits ReadMachineLimits() {
  MachineLimits machine;
  struct sysinfo info {};
  sysinfo(&info);
  machine.memory_bytes = static_cast<int64_t>(info.totalram) * info.mem_unit;
  machine.descriptors = SoftLimit(RLIMIT_NOFILE);
  machine.cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  machine.threads = std::min({NumberIn("/proc/sys/kernel/threads-max"), NumberIn("/proc/sys/kernel/pid_max"),
                              ThreadsOfGroups(), geteuid() == 0 ? kUnlimited : SoftLimit(RLIMIT_NPROC)});
  return machine;
}

SandboxLimits LimitsFor(const MachineLimits& machine) {
  SandboxLimits limits;
  limits.descriptors = std::clamp(machine.descriptors / 4, kLeastDescriptors, kMostDescriptors);
  limits.threads = std::max(
      kLeastThreads, std::min(machine.threads / 4, std::max(kUsualThreads, kThreadsPerCore * machine.cores)));
  limits.tmpfs_bytes = std::clamp(machine.memory_bytes / 8, kLeastTmpfs, kMostTmpfs);
  limits.file_bytes = std::max(machine.memory_bytes / 2, kMiB);
  return limits;
}

const SandboxLimits& LimitsOfSandboxes() {
  static const SandboxLimits limits = LimitsFor(ReadMachineLimits());
  return limits;
}

void RaiseOwnLimits() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = std::min<rlim_t>(limit.rlim_max, kOwnDescriptors);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  setrlimit(RLIMIT_NOFILE, &limit);
}

std::vector<std::string> LimitWords(const SandboxLimits& limits, bool own_users, int expendable) {
  std::vector<std::string> words = {fmt::format("{}={}", kExpendable, expendable), "CORE=0",
                                    fmt::format("NOFILE={}", limits.descriptors),
                                    fmt::format("FSIZE={}", limits.file_bytes)};
  if (own_users && CountsThreadsPerNamespace()) words.push_back(fmt::format("NPROC={}", limits.threads));
  return words;
}

bool ApplyLimitWords(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    const std::vector<std::string> parts = Split(word, '=');
    if (parts.size() != 2) return false;
    if (parts[0] == kExpendable) {
      // Some containers forbid this. The other limits still hold.
      (void)WriteWord("/proc/self/oom_score_adj", parts[1]);
      continue;
    }
    const auto* known = std::find_if(std::begin(kNamedLimits), std::end(kNamedLimits),
                                     [&](const NamedLimit& one) { return parts[0] == one.name; });
    if (known == std::end(kNamedLimits) || !Lower(known->resource, std::atoll(parts[1].c_str())))
      return false;
  }
  return true;
}

void MakeExpendable(int pid, int expendable) {
  (void)WriteWord(fmt::format("/proc/{}/oom_score_adj", pid), std::to_string(expendable));
}

}  // namespace hone

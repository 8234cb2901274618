#include "process/freezer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "base/clock.h"
#include "process/tree.h"

namespace hone {

namespace fs = std::filesystem;

namespace {

constexpr double kFreezeSeconds = 2;
constexpr long kLookAgainNs = 10'000;

// Returns this process's folder in the cgroup v2 hierarchy, or an empty path if there is none.
fs::path OwnGroup() {
  fs::path mount;
  std::ifstream mounts("/proc/self/mounts");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string device, place, kind;
    words >> device >> place >> kind;
    if (kind == "cgroup2") mount = place;
  }
  if (mount.empty()) return {};
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);)
    if (line.rfind("0::/", 0) == 0) return mount / line.substr(4);
  return {};
}

bool WriteText(const fs::path& file, const std::string& text) {
  const int fd = open(file.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(fd);
  return written;
}

// Removes the empty cgroups of Hone processes that were killed. It skips those of live processes, which may
// have no members yet; rmdir refuses a cgroup with members.
void RemoveLeftovers(const fs::path& own) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(own, ignored)) {
    int pid = 0, number = 0;
    if (std::sscanf(entry.path().filename().c_str(), "hone-%d-%d", &pid, &number) != 2) continue;
    if (pid > 0 && kill(pid, 0) != 0 && errno == ESRCH) rmdir(entry.path().c_str());
  }
}

// Run time of one thread in nanoseconds, the first number of its schedstat.
int64_t ThreadNs(const fs::path& task) {
  std::ifstream file(task / "schedstat");
  int64_t ns = 0;
  file >> ns;
  return ns;
}

}  // namespace

Freezer::Freezer(pid_t root) : root_(root) {
  if (!JoinGroup()) group_.clear();
}

Freezer::~Freezer() {
  Thaw();
  if (freeze_fd_ >= 0) close(freeze_fd_);
  if (events_fd_ >= 0) close(events_fd_);
  // The members are usually dead by now, but the kernel may still be removing them.
  for (int pass = 0; by_cgroup() && rmdir(group_.c_str()) != 0 && errno == EBUSY && pass < 100; ++pass)
    usleep(2000);
}

bool Freezer::JoinGroup() {
  static std::atomic<int> made{0};
  const fs::path own = OwnGroup();
  if (own.empty()) return false;
  if (made == 0) RemoveLeftovers(own);
  group_ = own / fmt::format("hone-{}-{}", getpid(), made++);
  std::error_code failed;
  if (!fs::create_directory(group_, failed)) return false;
  std::set<pid_t> joined;
  bool all = true;
  for (bool found = true; found && all;) {
    found = false;
    for (const pid_t pid : ProcessTree(root_)) {
      if (!joined.insert(pid).second) continue;
      found = true;
      all = all && (WriteText(group_ / "cgroup.procs", std::to_string(pid)) || errno == ESRCH);
    }
  }
  freeze_fd_ = open((group_ / "cgroup.freeze").c_str(), O_WRONLY | O_CLOEXEC);
  events_fd_ = open((group_ / "cgroup.events").c_str(), O_RDONLY | O_CLOEXEC);
  if (all && freeze_fd_ >= 0 && events_fd_ >= 0) return true;
  for (const pid_t pid : joined) WriteText(own / "cgroup.procs", std::to_string(pid));
  rmdir(group_.c_str());
  return false;
}

bool Freezer::WriteFreeze(bool frozen) {
  if (pwrite(freeze_fd_, frozen ? "1" : "0", 1, 0) != 1) return false;
  const char* wanted = frozen ? "frozen 1" : "frozen 0";
  const Deadline deadline = Deadline::After(kFreezeSeconds);
  while (!deadline.passed()) {
    char text[256];
    const ssize_t size = pread(events_fd_, text, sizeof text - 1, 0);
    if (size <= 0) return false;
    text[size] = '\0';
    if (std::strstr(text, wanted) != nullptr) return true;
    // A thread freezes only when it next runs, maybe on this core. This thread therefore sleeps: spinning
    // would delay the other one by a whole time slice. (The kernel reports changes in cgroup.events up to 10
    // ms late.)
    const timespec moment{0, kLookAgainNs};
    nanosleep(&moment, nullptr);
  }
  return false;
}

void Freezer::Freeze() {
  if (frozen_) return;
  if (!by_cgroup() || !WriteFreeze(true)) FreezeTree(root_);
  frozen_ = true;
}

void Freezer::Thaw() {
  if (!frozen_) return;
  if (by_cgroup()) WriteFreeze(false);
  ThawTree(root_);  // those that stopped themselves, or were stopped because the cgroup did not freeze
  frozen_ = false;
}

int64_t Freezer::CpuNs() const {
  if (by_cgroup()) {
    std::ifstream file(group_ / "cpu.stat");
    std::string word;
    int64_t microseconds = 0;
    while (file >> word >> microseconds)
      if (word == "usage_usec") return microseconds * 1000;
  }
  int64_t total = 0;
  for (const pid_t pid : ProcessTree(root_)) {
    std::error_code gone;
    for (const auto& task : fs::directory_iterator(fmt::format("/proc/{}/task", pid), gone))
      total += ThreadNs(task.path());
  }
  return total;
}

}  // namespace hone

// Stops a process and everything below it while another process is timed, and reports how much processor time
// they used.
//
// Where a cgroup of version 2 can be made, the kernel's freezer does it: it takes 0.2 ms, nothing below can
// escape it, and the group counts the time of processes that have ended. Elsewhere every process gets SIGSTOP
// and the times are read from /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>

namespace hone {

class Freezer {
 public:
  // Takes in `root` and everything below it. To be called before the program below runs foreign code: what is
  // forked later belongs to the group by itself.
  explicit Freezer(pid_t root);
  // Thaws. The cgroup is removed once its processes are gone.
  ~Freezer();
  Freezer(const Freezer&) = delete;
  Freezer& operator=(const Freezer&) = delete;

  // Returns when nothing below runs any more.
  void Freeze();
  void Thaw();
  bool frozen() const { return frozen_; }
  bool by_cgroup() const { return !group_.empty(); }
  // Processor time of everything below, in nanoseconds. Without a cgroup, threads that ended are not in it.
  int64_t CpuNs() const;

 private:
  bool JoinGroup();
  bool WriteFreeze(bool frozen);

  pid_t root_;
  std::filesystem::path group_;
  int freeze_fd_ = -1;
  int events_fd_ = -1;
  bool frozen_ = false;
};

}  // namespace hone

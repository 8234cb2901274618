// Answers the seccomp listener of one sandbox on a thread of its own.
//
// Two kinds of call arrive: those that change a file, and those that reach another process through a socket.
// A file inside the sandbox is the kernel's business; outside it the call is refused. A connection goes to a
// socket inside the sandbox or is refused. What was refused is recorded and becomes the `escaped` verdict.
#pragma once

#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"
#include "base/unique_fd.h"
#include "process/traced_path.h"

struct seccomp_notif;

namespace hone {

class SyscallWatch {
 public:
  SyscallWatch(UniqueFd listener, fs::path private_folder);
  ~SyscallWatch();
  SyscallWatch(const SyscallWatch&) = delete;

  // One sentence per distinct attempt, "connected to 192.0.2.1:80", "opened /etc/x for writing"; at most 16.
  std::vector<std::string> attempts() const;
  // Attempts before this call are forgotten (what the interpreter's own start did).
  void Forget();

 private:
  struct Answer {
    int error = 0;       // what the call fails with; 0: it succeeds
    bool go_on = false;  // the kernel carries it out
  };
  void Run();
  Answer Decide(const seccomp_notif& request);
  Answer DecideConnection(const seccomp_notif& request, bool send);
  Answer ConnectInside(const TracedProcess& process, int descriptor, const fs::path& socket);
  void Record(std::string sentence);

  UniqueFd listener_;
  UniqueFd stop_read_;
  UniqueFd stop_write_;
  fs::path private_folder_;
  mutable std::mutex mutex_;
  std::vector<std::string> attempts_;
  std::thread thread_;
};

// Whether an attempt to change this file is harmless: it lies in the private folder, is a device, belongs to
// the process `own_id` itself, lies in a private /tmp, or is a byte-code cache that a read-only file system
// refuses anyway. The path has no links (traced_path.h).
bool HarmlessWrite(const fs::path& path, const fs::path& private_folder, pid_t own_id);

}  // namespace hone

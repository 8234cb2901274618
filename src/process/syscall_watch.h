// Answers the seccomp listener of one sandbox on its own thread.
//
// Receives two kinds of call: those that change a file, and those that reach another process through a
// socket. The kernel handles files inside the sandbox; a change outside it is refused. A connection must go
// to a socket inside the sandbox, else it is refused. Each refusal is recorded and leads to the `escaped`
// verdict.
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

  // Distinct attempts, one sentence each: "connected to 192.0.2.1:80", "opened /etc/x for writing". At most
  // 16.
  std::vector<std::string> attempts() const;
  // Forgets attempts before this call, which come from the interpreter's own start.
  void Forget();

 private:
  struct Answer {
    int error = 0;       // errno for the caller; 0: the call succeeds
    bool go_on = false;  // the kernel executes the call
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

// Returns whether an attempt to change this file is harmless: it lies in the private folder, is a device,
// belongs to the process `own_id`, lies in a private /tmp, or is a byte-code cache on a read-only file
// system. The path must have no links (traced_path.h).
bool HarmlessWrite(const fs::path& path, const fs::path& private_folder, pid_t own_id);

}  // namespace hone

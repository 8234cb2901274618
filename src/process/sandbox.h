// Where candidates run. Level 1 is bubblewrap: no network, private PID and IPC namespaces, a root of
// read-only binds, one private writable folder, and access to GPU device nodes. Level 2, if bubblewrap does
// not work, is Landlock + seccomp + no_new_privs. Level 0 is no sandbox, which every verdict records.
//
// At levels 1 and 2 a seccomp listener reports attempts to open sockets or to write outside the private
// folder (see syscall_watch.h). The kernel's rules stop them, not the listener.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "process/channel.h"
#include "process/child.h"
#include "process/syscall_watch.h"

namespace hone {

enum class SandboxLevel { kNone, kLandlock, kBubblewrap };

// Returns the best level that works here. Tries each level for real, once per process.
SandboxLevel DetectSandbox();
std::string Describe(SandboxLevel level);  // "bubblewrap", "landlock+seccomp", "none"

struct SandboxPolicy {
  std::vector<fs::path> readable;  // in addition to the system's folders
  fs::path private_folder;         // the only folder it may write; also HOME and TMPDIR
  bool gpu = false;
  // Allows sockets in a private network namespace that has only a loopback device. Profilers talk to the
  // program they start this way. Without such a namespace sockets stay forbidden.
  bool loopback = false;
  // 0 to 1000: how much rather than others the kernel ends its processes when memory runs out.
  int expendable = 1000;
};

struct SandboxedChild {
  std::unique_ptr<Child> child;
  std::unique_ptr<SyscallWatch> watch;  // null at level none
};

// Starts the program of `spec` inside the sandbox.
Result<SandboxedChild> SpawnSandboxed(const ChildSpec& spec, const SandboxPolicy& policy, SandboxLevel level);

// A sandbox that has no program yet. Its first process waits until a process from outside joins with these
// descriptors (worker/hone_join.py), and then ends with the same status as that process.
struct EmptySandbox {
  std::unique_ptr<Child> child;
  UniqueFd first;     // the first process, as a pidfd
  UniqueFd told;      // the joining process writes its process id here
  UniqueFd out, err;  // stdout and stderr of the joining process
  UniqueFd rules;     // Landlock rules that the joining process applies to itself; invalid with bubblewrap
  UniqueFd user_namespace;  // owns the other namespaces; invalid if it is Hone's own
  bool nested = false;      // the first process lives in a user namespace below that one
};
// kUnavailable if a process cannot join: at level none, or without a PID namespace.
Result<EmptySandbox> MakeEmptySandbox(const ChildSpec& spec, const SandboxPolicy& policy, SandboxLevel level);

// The arguments for a joining process, named as in hone_join.py: the sandbox's descriptors and the seccomp
// filter (the kernel's program, in hexadecimal), which it applies to itself.
std::vector<std::pair<std::string, int>> TicketsOf(const EmptySandbox& sandbox);
const std::string& NewcomersFilter();
// The limits that a joining process applies to itself (limits.h).
std::vector<std::string> NewcomersLimits(const SandboxPolicy& policy, SandboxLevel level);

}  // namespace hone

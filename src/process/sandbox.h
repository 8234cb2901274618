// Where candidates run. Level 1 is bubblewrap: no network, private PID and IPC namespaces, a root made of
// read-only binds, one private writable folder, GPU device nodes passed through. Level 2, where bubblewrap
// does not work, is Landlock + seccomp + no_new_privs. Level 0 is nothing, and every verdict says so.
//
// At levels 1 and 2 a seccomp listener reports attempts to open sockets or to write outside the private
// folder (see syscall_watch.h); the kernel's own rules, not the listener, are what stops them.
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

// The best level that works here, tried for real, once per process.
SandboxLevel DetectSandbox();
std::string Describe(SandboxLevel level);  // "bubblewrap", "landlock+seccomp", "none"

struct SandboxPolicy {
  std::vector<fs::path> readable;  // beyond the system's own folders
  fs::path private_folder;         // the only place it may write; also HOME and TMPDIR
  bool gpu = false;
  // Sockets inside a network namespace of its own, where there is nothing but its own loopback: for tools
  // that talk to the program they start, as profilers do. Without such a namespace sockets stay refused.
  bool loopback = false;
};

struct SandboxedChild {
  std::unique_ptr<Child> child;
  std::unique_ptr<SyscallWatch> watch;  // null at level none
};

// Starts the program of `spec` inside the sandbox.
Result<SandboxedChild> SpawnSandboxed(const ChildSpec& spec, const SandboxPolicy& policy, SandboxLevel level);

// A sandbox with nobody in it. Its first process waits for one that comes in from outside by these
// descriptors (worker/hone_join.py does that) and then ends as that one ends.
struct EmptySandbox {
  std::unique_ptr<Child> child;
  UniqueFd first;           // the first process, as a pidfd
  UniqueFd told;            // where the newcomer says which process it is
  UniqueFd out, err;        // its stdout and stderr
  UniqueFd rules;           // Landlock's, which it puts in force for itself; invalid with bubblewrap
  UniqueFd user_namespace;  // the one that owns the others; invalid where that is Hone's own
  bool nested = false;      // the first process lives in a user namespace below that one
};
// kUnavailable where nobody could come in: at level none, and where the kernel gives no PID namespace.
Result<EmptySandbox> MakeEmptySandbox(const ChildSpec& spec, const SandboxPolicy& policy, SandboxLevel level);

// What a newcomer needs, as hone_join.py names it: the sandbox's descriptors, and the seccomp filter that it
// puts in force for itself (the kernel's program, in hexadecimal).
std::vector<std::pair<std::string, int>> TicketsOf(const EmptySandbox& sandbox);
const std::string& NewcomersFilter();

}  // namespace hone

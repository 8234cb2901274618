// Where candidates run. Level 1 is bubblewrap: no network, private PID and IPC namespaces, a root made of
// read-only binds, one private writable folder, GPU device nodes passed through. Level 2, where bubblewrap
// does not work, is Landlock + seccomp + no_new_privs. Level 0 is nothing, and every verdict says so.
//
// At levels 1 and 2 a seccomp listener reports attempts to open sockets or to write outside the private
// folder (see syscall_watch.h); the kernel's own rules, not the listener, are what stops them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
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

}  // namespace hone

// The seccomp filter of a sandbox: which system calls a candidate may make.
//
// Some calls are forbidden outright. Some go to the parent, which decides by their arguments
// (syscall_watch.h). All others are allowed, because the file system and the namespaces limit their effect.
#pragma once

#include <string>

namespace hone {

struct FilterOptions {
  // The process has its own network namespace, so a datagram cannot leave it.
  bool own_network = false;
  // The process may also use the loopback device of that namespace, as profilers do. The parent is then not
  // asked about connections.
  bool loopback = false;
};

// Applies the filter to the calling process and its later children. Needs no_new_privs. Returns the
// descriptor that the parent's SyscallWatch answers, or -1 with errno.
int LoadSandboxFilter(const FilterOptions& options);

// Returns the same filter as a kernel program (an array of sock_filter), for a process that loads it itself.
// Empty if libseccomp failed.
std::string SandboxFilterProgram(const FilterOptions& options);

}  // namespace hone

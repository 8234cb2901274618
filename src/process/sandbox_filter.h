// The seccomp filter of a sandbox: which system calls a candidate may make.
//
// Some are refused outright. Some are sent to the parent, which decides with the arguments in hand
// (syscall_watch.h). The rest is allowed, because the file system and the namespaces limit what it can reach.
#pragma once

#include <string>

namespace hone {

struct FilterOptions {
  // The process has a network namespace of its own, so a datagram cannot leave it.
  bool own_network = false;
  // It may also use the loopback of that namespace (profilers do); nothing is asked about its connections
  // then.
  bool loopback = false;
};

// Puts the filter in force for the calling process and all it starts. Needs no_new_privs. Returns the
// descriptor that the parent's SyscallWatch answers; -1 with errno when the kernel refused.
int LoadSandboxFilter(const FilterOptions& options);

// The same filter as the kernel's program (an array of sock_filter), for a process that loads it itself.
// Empty when libseccomp refused.
std::string SandboxFilterProgram(const FilterOptions& options);

}  // namespace hone

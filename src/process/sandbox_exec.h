// The last step before a candidate's worker runs. `hone` starts itself with a hidden first argument, drops
// its privileges, sends the seccomp listener to the parent, and becomes the worker. It is a separate program
// because none of this is safe between fork and exec in a threaded parent.
#pragma once

namespace hone {

inline constexpr char kSandboxExecWord[] = "__sandbox-exec";

// If argv is `hone __sandbox-exec FD seccomp|landlock LIMITS PRIVATE-FOLDER [r PATH|w PATH]... --
// PROGRAM...`, does the above and never returns; on failure it exits with code 126 and a sentence on stderr.
// Otherwise it returns at once.
//
// `seccomp+hold` and `landlock+hold` have no program. The helper is then the first process of its PID
// namespace. It sends the descriptors that a process from outside needs to join (kSandboxTickets, in this
// order), reads that process's id from `told`, and ends with the same status.
inline constexpr const char* kSandboxTickets[] = {
    "first",  // the helper itself, as a pidfd
    "told",   // the joining process writes its process id here (an int, in this namespace)
    "out",    // stdout and stderr of the sandbox
    "err",
    "rules",  // Landlock rules; only with landlock
};

void RunSandboxExecIfAsked(int argc, char** argv);

}  // namespace hone

// The last step before a candidate's worker runs: `hone` starts itself with a hidden first word, gives up
// what a candidate must not have, hands the seccomp listener to the parent, and becomes the worker.
// It is a program of its own because none of this is safe between fork and exec in a threaded parent.
#pragma once

namespace hone {

inline constexpr char kSandboxExecWord[] = "__sandbox-exec";

// When argv is `hone __sandbox-exec FD seccomp|landlock PRIVATE-FOLDER [r PATH|w PATH]... -- PROGRAM...`,
// does the above and never returns (exit code 126 with a sentence on stderr when it fails). Otherwise returns
// at once.
//
// With `seccomp+hold` or `landlock+hold` there is no program. The helper, as the first process of its PID
// namespace, hands out what somebody outside needs to come in (kSandboxTickets, in this order), reads from
// `told` which process that is, and ends as it ends.
inline constexpr const char* kSandboxTickets[] = {
    "first",  // the helper itself, as a pidfd
    "told",   // where the newcomer writes its number (an int, as this namespace counts)
    "out",    // stdout and stderr of the sandbox
    "err",
    "rules",  // Landlock rules; with landlock only
};

void RunSandboxExecIfAsked(int argc, char** argv);

}  // namespace hone

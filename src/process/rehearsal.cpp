#include "process/rehearsal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace hone {

namespace {

// Another thread may kill processes that it does not know (KillStrays).
constexpr int kAttempts = 3;

[[noreturn]] void RunInCopy(const std::function<void()>& work, int cpu_seconds) {
  // A crash leaves no message and no core file behind.
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  const rlimit most = {static_cast<rlim_t>(cpu_seconds), static_cast<rlim_t>(cpu_seconds) + 1};
  setrlimit(RLIMIT_CPU, &most);
  for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGXCPU}) signal(number, SIG_DFL);
  work();
  _exit(0);
}

}  // namespace

bool EndsInACopy(const std::function<void()>& work, int cpu_seconds) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const pid_t copy = fork();
    if (copy < 0) return false;
    if (copy == 0) RunInCopy(work, cpu_seconds);
    int status = 0;
    pid_t ended = 0;
    while ((ended = waitpid(copy, &status, 0)) < 0 && errno == EINTR) {
    }
    const bool was_killed = ended < 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    if (!was_killed) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  return false;
}

}  // namespace hone

#include "process/sandbox_exec.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/text.h"
#include "process/channel.h"
#include "process/landlock.h"
#include "process/limits.h"
#include "process/sandbox_filter.h"
#include "process/sandbox_mounts.h"

namespace hone {

namespace {

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "hone sandbox: %s: %s\n", what.c_str(), std::strerror(errno));
  _exit(126);
}

// Drops this process's capabilities, and those that a program it starts could gain.
void DropCapabilities() {
  for (int capability = 0; capability < 64; ++capability) prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  syscall(SYS_capset, &header, none);
}

// In a new network namespace the loopback device exists but is down.
void RaiseLoopback() {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  std::strncpy(request.ifr_name, "lo", sizeof(request.ifr_name) - 1);
  if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &request) != 0) Fail("cannot look at the loopback");
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
  if (ioctl(fd, SIOCSIFFLAGS, &request) != 0) Fail("cannot raise the loopback");
  close(fd);
}

// Waits for `child` and ends with the same status. Reports a signal as exit code 128 + signal, as shells do:
// the signal must not end this process with a core dump.
[[noreturn]] void EndWith(pid_t child) {
  for (int fd = 0; fd < 256; ++fd) close(fd);
  int status = 0;
  for (pid_t ended = 0; ended != child;) {  // the first process of a namespace also collects orphans
    ended = waitpid(-1, &status, 0);
    if (ended < 0 && errno != EINTR) _exit(126);
  }
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

// Enters its own namespaces if the kernel permits it (as root). Then one SIGKILL ends all processes inside,
// and they see no process outside. The caller stays outside to guard them. Returns false if the kernel
// refuses.
bool EnterNamespaces() {
  if (unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWUTS) != 0) return false;
  const pid_t child = fork();
  if (child < 0) Fail("cannot fork");
  if (child > 0) EndWith(child);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  return true;
}

// Waits until a process joins from outside, then stays as the first process of the namespace.
[[noreturn]] void Hold(int socket, const UniqueFd* rules, const FilterOptions& filter) {
  int told[2];
  if (getpid() != 1) Fail("a sandbox that waits needs a PID namespace of its own");
  if (pipe2(told, O_CLOEXEC) != 0) Fail("cannot make a pipe");
  const int self = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0u));
  if (self < 0) Fail("cannot open a descriptor of this process");
  std::vector<int> tickets = {self, told[1], STDOUT_FILENO, STDERR_FILENO};
  if (rules != nullptr) tickets.push_back(rules->get());
  for (const int ticket : tickets)
    if (!SendDescriptor(socket, ticket)) Fail("cannot hand over what is needed to come in");
  for (const int fd : {self, told[1], socket}) close(fd);
  pid_t newcomer = 0;
  if (read(told[0], &newcomer, sizeof newcomer) != sizeof newcomer) _exit(126);
  prctl(PR_SET_DUMPABLE, 0);
  if (rules != nullptr && !RestrictSelf(*rules)) Fail("cannot restrict the file system with Landlock");
  // Nothing answers this listener, so from here on this process must not make a watched call.
  const int listener = LoadSandboxFilter(filter);
  if (listener < 0) Fail("cannot load the seccomp filter");
  close(told[0]);  // the joining process waits for this
  EndWith(newcomer);
}

MountPlan PlanMounts(const std::vector<LandlockRule>& rules, const std::string& private_folder) {
  MountPlan plan;
  plan.writable = private_folder;
  plan.tmpfs_bytes = LimitsOfSandboxes().tmpfs_bytes;
  for (const LandlockRule& rule : rules)
    if (!rule.writable) plan.readable.push_back(rule.path);
  return plan;
}

}  // namespace

void RunSandboxExecIfAsked(int argc, char** argv) {
  if (argc < 7 || std::strcmp(argv[1], kSandboxExecWord) != 0) return;
  const int socket = std::atoi(argv[2]);
  const bool landlock = std::strncmp(argv[3], "landlock", 8) == 0;
  const bool loopback = std::strstr(argv[3], "+loopback") != nullptr;
  const bool hold = std::strstr(argv[3], "+hold") != nullptr;
  const std::vector<std::string> limits = Split(argv[4], ',');
  const std::string private_folder = argv[5];
  std::vector<LandlockRule> rules;
  int i = 6;
  for (; i + 1 < argc && std::strcmp(argv[i], "--") != 0; i += 2)
    rules.push_back({argv[i + 1], argv[i][0] == 'w'});
  ++i;
  if (i >= argc && !hold) Fail("no program given");

  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!ApplyLimitWords(limits)) Fail("cannot lower the limits of this process");
  FilterOptions filter;
  filter.own_network = !landlock || EnterNamespaces();  // bubblewrap always creates one
  filter.loopback = loopback && filter.own_network;
  if (landlock && filter.own_network) {
    const std::string failed = MakePrivateMounts(PlanMounts(rules, private_folder));
    if (!failed.empty()) Fail(failed);
    for (const char* place : kPrivatePlaces) rules.push_back({place, true});
    if (loopback) RaiseLoopback();
  }
  DropCapabilities();
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) Fail("cannot set no_new_privs");
  const UniqueFd access = landlock ? MakeLandlockRules(rules, filter.loopback) : UniqueFd();
  if (landlock && !access.valid()) Fail("cannot make rules for Landlock");
  if (hold) Hold(socket, landlock ? &access : nullptr, filter);
  if (landlock && !RestrictSelf(access)) Fail("cannot restrict the file system with Landlock");
  const int listener = LoadSandboxFilter(filter);
  if (listener < 0) Fail("cannot load the seccomp filter");
  if (!SendDescriptor(socket, listener)) Fail("cannot hand over the seccomp listener");
  close(listener);
  close(socket);
  if (getpid() == 1) {
    // The first process of a namespace ignores signals and collects orphans. This process keeps that role,
    // under the filter. The candidate is its child.
    const pid_t child = fork();
    if (child < 0) Fail("cannot fork");
    if (child > 0) {
      prctl(PR_SET_DUMPABLE, 0);
      EndWith(child);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
  }
  execvp(argv[i], argv + i);
  Fail(argv[i]);
}

}  // namespace hone

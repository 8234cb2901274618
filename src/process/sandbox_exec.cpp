#include "process/sandbox_exec.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "process/channel.h"
#include "process/landlock.h"

namespace hone {

namespace {

[[noreturn]] void Fail(const char* what) {
  std::fprintf(stderr, "hone sandbox: %s: %s\n", what, std::strerror(errno));
  _exit(126);
}

// Refused outright: nothing an honest kernel needs, everything an escape starts with.
constexpr const char* kRefused[] = {
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "kexec_load",
    "kexec_file_load",
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "bpf",
    "perf_event_open",
    "keyctl",
    "add_key",
    "request_key",
    "userfaultfd",
    "init_module",
    "finit_module",
    "delete_module",
    "setns",
    "reboot",
    "swapon",
    "swapoff",
    "clock_settime",
    "clock_adjtime",
    "settimeofday",
    "adjtimex",
    "open_by_handle_at",
    "io_uring_setup",
    "move_mount",
    "fsopen",
    "fsmount",
    "open_tree",
    "pidfd_getfd",
    "acct",
    "quotactl",
    "syslog",
};

int LoadFilter(bool loopback) {
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  if (filter == nullptr) return -1;
  for (const char* name : kRefused) {
    const int number = seccomp_syscall_resolve_name(name);
    if (number >= 0) seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), number, 0);
  }
  // Its flags lie behind a pointer that a filter cannot read; libraries then use openat.
  const int openat2 = seccomp_syscall_resolve_name("openat2");
  if (openat2 >= 0) seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), openat2, 0);
  int code = 0;
  for (int domain : {AF_INET, AF_INET6, AF_PACKET, AF_VSOCK}) {
    if (loopback && (domain == AF_INET || domain == AF_INET6)) continue;
    code |= seccomp_rule_add(filter, SCMP_ACT_NOTIFY, SCMP_SYS(socket), 1,
                             SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(domain), 0));
  }
  for (int mode : {O_WRONLY, O_RDWR}) {
    const auto wanted = static_cast<scmp_datum_t>(mode);
    code |= seccomp_rule_add(filter, SCMP_ACT_NOTIFY, SCMP_SYS(openat), 1,
                             SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE, wanted));
#ifdef __NR_open
    code |= seccomp_rule_add(filter, SCMP_ACT_NOTIFY, SCMP_SYS(open), 1,
                             SCMP_A1(SCMP_CMP_MASKED_EQ, O_ACCMODE, wanted));
#endif
  }
  if (code != 0 || seccomp_load(filter) != 0) return -1;
  return seccomp_notify_fd(filter);
}

// A fresh /proc for the new PID namespace; what of it could change the machine becomes read-only. The CUDA
// driver needs both: a /proc that knows its process ids, and leave to name its threads there.
void MountOwnProc() {
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) Fail("cannot make mounts private");
  if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
    Fail("cannot mount /proc");
  for (const char* path :
       {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/acpi", "/proc/scsi"}) {
    if (access(path, F_OK) != 0) continue;
    if (mount(path, path, nullptr, MS_BIND | MS_REC, nullptr) != 0 ||
        mount(nullptr, path, nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
              nullptr) != 0)
      Fail(path);
  }
}

void DropCapabilities() {
  for (int capability = 0; capability < 64; ++capability) prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
}

// In a new network namespace the loopback is there and down.
void RaiseLoopback() {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  std::strncpy(request.ifr_name, "lo", sizeof(request.ifr_name) - 1);
  if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &request) != 0) Fail("cannot look at the loopback");
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
  if (ioctl(fd, SIOCSIFFLAGS, &request) != 0) Fail("cannot raise the loopback");
  close(fd);
}

// Namespaces of its own where the kernel lets us (as root), so that one SIGKILL ends everything inside and
// nothing outside is in sight. The caller stays outside as a guard that ends as its child ends. False where
// the kernel does not.
bool EnterNamespaces(bool loopback) {
  if (unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWNET) != 0) return false;
  const pid_t child = fork();
  if (child < 0) Fail("cannot fork");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    MountOwnProc();
    if (loopback) RaiseLoopback();
    DropCapabilities();
    return true;
  }
  for (int fd = 3; fd < 256; ++fd) close(fd);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  // Said the way shells say it: a signal that ended the child must not end this process with a core dump.
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

}  // namespace

void RunSandboxExecIfAsked(int argc, char** argv) {
  if (argc < 5 || std::strcmp(argv[1], kSandboxExecWord) != 0) return;
  const int socket = std::atoi(argv[2]);
  const bool landlock = std::strncmp(argv[3], "landlock", 8) == 0;
  bool loopback = std::strstr(argv[3], "+loopback") != nullptr;
  std::vector<LandlockRule> rules;
  int i = 4;
  for (; i + 1 < argc && std::strcmp(argv[i], "--") != 0; i += 2)
    rules.push_back({argv[i + 1], argv[i][0] == 'w'});
  ++i;
  if (i >= argc) Fail("no program given");

  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (landlock) loopback = EnterNamespaces(loopback) && loopback;  // bubblewrap always makes one
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) Fail("cannot set no_new_privs");
  if (landlock && !RestrictSelf(rules, loopback)) Fail("cannot restrict the file system with Landlock");
  const int listener = LoadFilter(loopback);
  if (listener < 0) Fail("cannot load the seccomp filter");
  if (!SendDescriptor(socket, listener)) Fail("cannot hand over the seccomp listener");
  close(listener);
  close(socket);
  execvp(argv[i], argv + i);
  Fail(argv[i]);
}

}  // namespace hone

#include "process/sandbox_filter.h"

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cerrno>
#include <initializer_list>

#include "base/unique_fd.h"
#include "process/watched_calls.h"

namespace hone {

namespace {

// System calls that kernels do not need and sandbox escapes use.
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
    "mount_setattr",
    "fsopen",
    "fspick",
    "fsmount",
    "open_tree",
    "pidfd_getfd",
    "acct",
    "quotactl",
    "syslog",
    "vhangup",
};

// The flags of these calls lie behind a pointer that a filter cannot read. Libraries fall back to older
// calls.
constexpr const char* kUnreadable[] = {"openat2", "clone3"};

// Newer variants of the calls in watched_calls.h: fchmodat2, setxattrat, removexattrat, file_setattr.
// libseccomp may not know their names. The numbers are the same on every architecture.
constexpr int kNewerCalls[] = {452, 463, 466, 469};

constexpr unsigned kNamespaces[] = {CLONE_NEWUSER, CLONE_NEWNS,  CLONE_NEWPID,   CLONE_NEWNET,
                                    CLONE_NEWIPC,  CLONE_NEWUTS, CLONE_NEWCGROUP};

class Filter {
 public:
  Filter() : context_(seccomp_init(SCMP_ACT_ALLOW)) {}
  ~Filter() { seccomp_release(context_); }
  Filter(const Filter&) = delete;

  template <class... Conditions>
  void Add(uint32_t action, int call, Conditions... conditions) {
    if (call < 0) return;  // this architecture has no such call
    const int code = seccomp_rule_add(context_, action, call, sizeof...(conditions), conditions...);
    good_ = good_ && code == 0;
  }
  template <class... Conditions>
  void Add(uint32_t action, const char* name, Conditions... conditions) {
    Add(action, seccomp_syscall_resolve_name(name), conditions...);
  }
  int Load() {
    if (!good_ || seccomp_load(context_) != 0) return -1;
    return seccomp_notify_fd(context_);
  }
  std::string Program() const {
    const UniqueFd memory(memfd_create("filter", MFD_CLOEXEC));
    if (!good_ || !memory.valid() || seccomp_export_bpf(context_, memory.get()) != 0) return {};
    std::string program(static_cast<size_t>(lseek(memory.get(), 0, SEEK_END)), '\0');
    const ssize_t size = pread(memory.get(), program.data(), program.size(), 0);
    return size == static_cast<ssize_t>(program.size()) ? program : std::string();
  }
  explicit operator bool() const { return context_ != nullptr; }

 private:
  scmp_filter_ctx context_;
  bool good_ = true;
};

scmp_datum_t Datum(unsigned value) {
  return static_cast<scmp_datum_t>(value);
}

void RefuseNamespaces(Filter& filter) {
  for (const unsigned flag : kNamespaces) {
    filter.Add(SCMP_ACT_ERRNO(EPERM), "unshare", SCMP_A0(SCMP_CMP_MASKED_EQ, Datum(flag), Datum(flag)));
    filter.Add(SCMP_ACT_ERRNO(EPERM), "clone", SCMP_A0(SCMP_CMP_MASKED_EQ, Datum(flag), Datum(flag)));
  }
}

// Forbids injecting input into the terminal that started Hone. The kernel ignores the upper half of the
// request.
void RefuseTerminalInput(Filter& filter) {
  for (const unsigned request : {TIOCSTI, TIOCLINUX})
    filter.Add(SCMP_ACT_ERRNO(EPERM), "ioctl", SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffu, Datum(request)));
}

// Sockets may be created, because libraries test that. The parent decides about each connection. The filter
// forbids the ways around that decision, such as an address in a message, which lies behind two pointers.
void LimitSockets(Filter& filter, const FilterOptions& options) {
  const uint32_t unknown = SCMP_ACT_ERRNO(EAFNOSUPPORT);
  for (unsigned family = AF_UNIX + 1; family < AF_NETLINK; ++family)
    if (family != AF_INET && family != AF_INET6)
      filter.Add(unknown, "socket", SCMP_A0(SCMP_CMP_EQ, Datum(family), 0));
  filter.Add(unknown, "socket", SCMP_A0(SCMP_CMP_GT, Datum(AF_NETLINK), 0));
  constexpr unsigned kTypeMask = 0xf;
  for (const unsigned family : {AF_INET, AF_INET6}) {
    filter.Add(SCMP_ACT_ERRNO(EPERM), "socket", SCMP_A0(SCMP_CMP_EQ, Datum(family), 0),
               SCMP_A1(SCMP_CMP_MASKED_EQ, kTypeMask, Datum(SOCK_RAW)));
    if (!options.own_network)
      filter.Add(SCMP_ACT_ERRNO(EACCES), "socket", SCMP_A0(SCMP_CMP_EQ, Datum(family), 0),
                 SCMP_A1(SCMP_CMP_MASKED_EQ, kTypeMask, Datum(SOCK_DGRAM)));
  }
  filter.Add(SCMP_ACT_ERRNO(EACCES), "socket", SCMP_A0(SCMP_CMP_EQ, Datum(AF_UNIX), 0),
             SCMP_A1(SCMP_CMP_MASKED_EQ, kTypeMask, Datum(SOCK_DGRAM)));
  if (options.loopback) return;
  filter.Add(SCMP_ACT_NOTIFY, "connect");
  filter.Add(SCMP_ACT_NOTIFY, "sendto", SCMP_A4(SCMP_CMP_NE, 0, 0));
  filter.Add(SCMP_ACT_ERRNO(EPERM), "sendmsg", SCMP_A2(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, MSG_FASTOPEN));
  filter.Add(SCMP_ACT_ERRNO(EPERM), "sendmmsg", SCMP_A3(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, MSG_FASTOPEN));
}

// Descriptor tables that the parent does not see when it counts what a process holds open (usage.cpp), and
// memory that stays when its processes have ended.
void RefuseHiddenMemory(Filter& filter) {
  filter.Add(SCMP_ACT_ERRNO(EPERM), "unshare", SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_FILES, CLONE_FILES));
  filter.Add(SCMP_ACT_ERRNO(EPERM), "clone",
             SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD | CLONE_FILES, CLONE_THREAD));
  for (const char* name : {"shmget", "msgget"}) filter.Add(SCMP_ACT_ERRNO(ENOSYS), name);
}

void AddRules(Filter& filter, const FilterOptions& options) {
  for (const char* name : kRefused) filter.Add(SCMP_ACT_ERRNO(EPERM), name);
  for (const char* name : kUnreadable) filter.Add(SCMP_ACT_ERRNO(ENOSYS), name);
  for (const int number : kNewerCalls) filter.Add(SCMP_ACT_ERRNO(ENOSYS), number);
  RefuseNamespaces(filter);
  RefuseHiddenMemory(filter);
  RefuseTerminalInput(filter);
  LimitSockets(filter, options);
  for (const WatchedCall& call : kWatchedCalls) {
    if (call.open_flags < 0) {
      filter.Add(SCMP_ACT_NOTIFY, call.name);
      continue;
    }
    for (const unsigned mode : {O_WRONLY, O_RDWR}) {
      const scmp_arg_cmp writes = {static_cast<unsigned>(call.open_flags), SCMP_CMP_MASKED_EQ, O_ACCMODE,
                                   mode};
      filter.Add(SCMP_ACT_NOTIFY, call.name, writes);
    }
  }
}

}  // namespace

int LoadSandboxFilter(const FilterOptions& options) {
  Filter filter;
  if (!filter) return -1;
  AddRules(filter, options);
  return filter.Load();
}

std::string SandboxFilterProgram(const FilterOptions& options) {
  Filter filter;
  if (!filter) return {};
  AddRules(filter, options);
  return filter.Program();
}

}  // namespace hone

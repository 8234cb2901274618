#include "process/sandbox.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <glob.h>
#include <linux/nsfs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <mutex>

#include "base/text.h"
#include "process/landlock.h"
#include "process/limits.h"
#include "process/sandbox_exec.h"
#include "process/sandbox_filter.h"

namespace hone {

namespace {

// Descriptor number of the socket on which the helper sends its seccomp listener.
constexpr int kListenerFd = 20;

std::vector<fs::path> SystemFolders() {
  std::vector<fs::path> folders;
  for (const char* path : {"/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/opt", "/sys", "/nix"}) {
    std::error_code code;
    if (fs::exists(path, code)) folders.emplace_back(path);
  }
  return folders;
}

// Files in /etc that loaders, compilers, the C library and drivers read. Other files there may hold secrets.
std::vector<fs::path> SystemSettings() {
  std::vector<fs::path> found;
  for (const char* name :
       {"ld.so.cache",    "ld.so.conf",      "ld.so.conf.d",    "ld.so.preload", "alternatives",
        "passwd",         "group",           "nsswitch.conf",   "hosts",         "localtime",
        "timezone",       "os-release",      "debian_version",  "lsb-release",   "locale.alias",
        "default/locale", "ssl/openssl.cnf", "crypto-policies", "mime.types",    "gai.conf",
        "host.conf",      "OpenCL",          "vulkan",          "glvnd",         "nvidia",
        "nccl.conf",      "cufile.json",     "python3",         "python3.11",    "python3.12",
        "clang",          "machine-id"}) {
    std::error_code code;
    const fs::path path = fs::path("/etc") / name;
    if (fs::exists(path, code)) found.push_back(path);
  }
  return found;
}

std::vector<fs::path> GpuNodes() {
  std::vector<fs::path> nodes;
  for (const char* pattern : {"/dev/nvidia*", "/dev/dxg", "/dev/kfd", "/dev/dri"}) {
    glob_t found{};
    if (glob(pattern, 0, nullptr, &found) == 0)
      for (size_t i = 0; i < found.gl_pathc; ++i) nodes.emplace_back(found.gl_pathv[i]);
    globfree(&found);
  }
  return nodes;
}

// Readable paths outside the system folders, without duplicates.
std::vector<fs::path> ExtraReadable(const SandboxPolicy& policy) {
  std::vector<fs::path> extra;
  const std::vector<fs::path> system = SystemFolders();
  auto covered = [](const std::vector<fs::path>& by, const fs::path& path) {
    return std::any_of(by.begin(), by.end(), [&](const fs::path& folder) {
      const auto [end, ignored] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
      return end == folder.end();
    });
  };
  for (const fs::path& path : policy.readable) {
    std::error_code code;
    const fs::path absolute = fs::absolute(path, code).lexically_normal();
    if (!fs::exists(absolute, code) || absolute == "/") continue;
    if (!covered(system, absolute) && !covered(extra, absolute)) extra.push_back(absolute);
  }
  return extra;
}

void Append(std::vector<std::string>& argv, std::initializer_list<std::string> words) {
  argv.insert(argv.end(), words);
}

// Before version 0.7 bubblewrap cannot limit the size of a tmpfs.
bool BubblewrapHasSizes() {
  static const bool has = [] {
    ChildSpec spec;
    spec.argv = {"bwrap", "--help"};
    spec.env = CurrentEnvironment();
    const Result<ExitReport> report = RunProgram(spec, Deadline::After(10));
    return report.ok() && Contains(report->out + report->err, "--size");
  }();
  return has;
}

std::vector<std::string> BubblewrapArgv(const SandboxPolicy& policy, const fs::path& helper) {
  std::vector<std::string> argv = {"bwrap",
                                   "--die-with-parent",
                                   "--new-session",
                                   "--as-pid-1",
                                   "--unshare-user",
                                   "--unshare-ipc",
                                   "--unshare-pid",
                                   "--unshare-net",
                                   "--unshare-uts",
                                   "--cap-drop",
                                   "ALL",
                                   "--proc",
                                   "/proc",
                                   "--dev",
                                   "/dev"};
  for (const char* place : {"/tmp", "/dev/shm"}) {
    if (BubblewrapHasSizes()) Append(argv, {"--size", std::to_string(LimitsOfSandboxes().tmpfs_bytes)});
    Append(argv, {"--tmpfs", place});
  }
  Append(argv, {"--dir", "/run"});
  for (const fs::path& folder : SystemFolders()) Append(argv, {"--ro-bind", folder, folder});
  for (const fs::path& path : SystemSettings()) Append(argv, {"--ro-bind", path, path});
  for (const fs::path& path : ExtraReadable(policy)) Append(argv, {"--ro-bind", path, path});
  if (policy.gpu) {
    for (const fs::path& node : GpuNodes()) Append(argv, {"--dev-bind", node, node});
    if (fs::exists("/run/nvidia-persistenced"))
      Append(argv, {"--ro-bind", "/run/nvidia-persistenced", "/run/nvidia-persistenced"});
  }
  if (!helper.empty()) Append(argv, {"--ro-bind", helper, "/run/hone-sandbox"});
  if (!policy.private_folder.empty()) {
    Append(argv, {"--bind", policy.private_folder, policy.private_folder});
    Append(argv, {"--chdir", policy.private_folder});
  }
  // Both are tmpfs without a limit. What is mounted below them stays as it is.
  for (const char* place : {"/dev", "/"}) Append(argv, {"--remount-ro", place});
  argv.emplace_back("--");
  return argv;
}

bool BubblewrapWorks() {
  if (FindProgram("bwrap").empty()) return false;
  ChildSpec spec;
  spec.argv = BubblewrapArgv(SandboxPolicy{}, {});
  spec.argv.emplace_back("true");
  spec.env = CurrentEnvironment();
  const Result<ExitReport> report = RunProgram(spec, Deadline::After(10));
  return report.ok() && report->code == 0;
}

std::vector<std::string> HelperArgv(const SandboxPolicy& policy, SandboxLevel level, const fs::path& helper,
                                    const std::string& how) {
  std::vector<std::string> argv = {helper.string(), kSandboxExecWord, std::to_string(kListenerFd)};
  const std::string manner = (policy.loopback ? "+loopback" : "") + how;
  const std::string limits = Join(NewcomersLimits(policy, level), ",");
  if (level == SandboxLevel::kLandlock) {
    argv.emplace_back("landlock" + manner);
    argv.emplace_back(limits);
    argv.emplace_back(policy.private_folder);
    for (const fs::path& path : SystemFolders()) Append(argv, {"r", path});
    for (const fs::path& path : SystemSettings()) Append(argv, {"r", path});
    for (const fs::path& path : ExtraReadable(policy)) Append(argv, {"r", path});
    // Writable, because the CUDA driver writes thread names there. sandbox_mounts.cpp limits the
    // consequences.
    Append(argv, {"w", "/proc"});
    for (const char* node : {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"})
      if (fs::exists(node)) Append(argv, {"w", node});
    if (policy.gpu)
      for (const fs::path& node : GpuNodes()) Append(argv, {"w", node});
    Append(argv, {"w", policy.private_folder});
  } else {
    argv.emplace_back("seccomp" + manner);
    argv.emplace_back(limits);
    argv.emplace_back(policy.private_folder);
  }
  argv.emplace_back("--");
  return argv;
}

// Starts the helper with mode `how` (sandbox_exec.h), at the bubblewrap level inside bubblewrap. The helper
// sends messages on `channel`.
Result<std::unique_ptr<Child>> StartHelper(const ChildSpec& spec, const SandboxPolicy& policy,
                                           SandboxLevel level, const std::string& how, Channel* channel) {
  const fs::path own = OwnExecutable();
  ChildSpec wrapped = spec;
  wrapped.argv.clear();
  if (level == SandboxLevel::kBubblewrap) wrapped.argv = BubblewrapArgv(policy, own);
  const fs::path helper = level == SandboxLevel::kBubblewrap ? fs::path("/run/hone-sandbox") : own;
  for (std::string& word : HelperArgv(policy, level, helper, how)) wrapped.argv.push_back(std::move(word));
  wrapped.argv.insert(wrapped.argv.end(), spec.argv.begin(), spec.argv.end());
  HONE_ASSIGN_OR_RETURN(Channel::Pair pair, Channel::MakePair());
  wrapped.descriptors.emplace_back(pair.theirs.get(), kListenerFd);
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Child> child, Child::Spawn(wrapped));
  // From here it takes privileges to undo this. The helper has none inside bubblewrap.
  MakeExpendable(child->pid(), policy.expendable);
  *channel = std::move(pair.ours);
  return child;
}

// Receives the helper's next descriptor. Without it there is no sandbox.
Result<UniqueFd> TakeFrom(Channel& channel, Child& child) {
  Result<UniqueFd> taken = channel.ReceiveDescriptor(Deadline::After(10));
  if (taken.ok()) return taken;
  child.Kill();
  if (taken.error().kind == ErrorKind::kInterrupted) return std::move(taken).error();
  return Error{ErrorKind::kUnavailable, "the sandbox did not start: " + child.err()};
}

// The process id in this process's namespace; 0 if the process has ended.
pid_t NumberOf(const UniqueFd& process) {
  const Result<std::string> text = ReadFile("/proc/self/fdinfo/" + std::to_string(process.get()));
  if (!text.ok()) return 0;
  for (const std::string& line : Lines(*text))
    if (StartsWith(line, "Pid:")) return static_cast<pid_t>(std::atoi(line.c_str() + 4));
  return 0;
}

bool SameFile(int a, int b) {
  struct stat one {
  }, other{};
  return fstat(a, &one) == 0 && fstat(b, &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

// bubblewrap creates the namespaces in one user namespace. If it maps users, the program lives in another
// user namespace below that one.
Status FindUserNamespaces(EmptySandbox* sandbox) {
  const std::string folder = "/proc/" + std::to_string(NumberOf(sandbox->first)) + "/ns/";
  const UniqueFd mounts(open((folder + "mnt").c_str(), O_RDONLY | O_CLOEXEC));
  const UniqueFd inner(open((folder + "user").c_str(), O_RDONLY | O_CLOEXEC));
  const UniqueFd own(open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC));
  UniqueFd owner(mounts.valid() ? ioctl(mounts.get(), NS_GET_USERNS) : -1);
  if (!owner.valid() || !inner.valid() || !own.valid())
    return Error{ErrorKind::kUnavailable,
                 fmt::format("the namespaces of a sandbox cannot be opened: {}", std::strerror(errno))};
  sandbox->nested = !SameFile(owner.get(), inner.get());
  if (!SameFile(owner.get(), own.get())) sandbox->user_namespace = std::move(owner);
  return Ok();
}

}  // namespace

SandboxLevel DetectSandbox() {
  static std::once_flag once;
  static SandboxLevel level = SandboxLevel::kNone;
  std::call_once(once, [] {
    if (BubblewrapWorks())
      level = SandboxLevel::kBubblewrap;
    else if (LandlockAbi() >= 1)
      level = SandboxLevel::kLandlock;
  });
  return level;
}

std::string Describe(SandboxLevel level) {
  switch (level) {
    case SandboxLevel::kBubblewrap:
      return "bubblewrap";
    case SandboxLevel::kLandlock:
      return "landlock+seccomp";
    case SandboxLevel::kNone:
      break;
  }
  return "none";
}

Result<SandboxedChild> SpawnSandboxed(const ChildSpec& spec, const SandboxPolicy& policy,
                                      SandboxLevel level) {
  SandboxedChild started;
  if (level == SandboxLevel::kNone) {
    HONE_ASSIGN_OR_RETURN(started.child, Child::Spawn(spec));
    return started;
  }
  Channel channel;
  HONE_ASSIGN_OR_RETURN(started.child, StartHelper(spec, policy, level, "", &channel));
  HONE_ASSIGN_OR_RETURN(UniqueFd listener, TakeFrom(channel, *started.child));
  started.watch = std::make_unique<SyscallWatch>(std::move(listener), policy.private_folder);
  return started;
}

Result<EmptySandbox> MakeEmptySandbox(const ChildSpec& spec, const SandboxPolicy& policy,
                                      SandboxLevel level) {
  if (level == SandboxLevel::kNone)
    return Error{ErrorKind::kUnavailable, "without a sandbox nobody can come into one"};
  EmptySandbox sandbox;
  Channel channel;
  HONE_ASSIGN_OR_RETURN(sandbox.child, StartHelper(spec, policy, level, "+hold", &channel));
  UniqueFd* const places[] = {&sandbox.first, &sandbox.told, &sandbox.out, &sandbox.err, &sandbox.rules};
  static_assert(std::size(places) == std::size(kSandboxTickets));
  for (UniqueFd* place : places) {
    if (place == &sandbox.rules && level != SandboxLevel::kLandlock) continue;
    HONE_ASSIGN_OR_RETURN(*place, TakeFrom(channel, *sandbox.child));
  }
  HONE_RETURN_IF_ERROR(FindUserNamespaces(&sandbox));
  return sandbox;
}

std::vector<std::pair<std::string, int>> TicketsOf(const EmptySandbox& sandbox) {
  std::vector<std::pair<std::string, int>> tickets;
  const std::pair<const char*, const UniqueFd*> all[] = {
      {"first", &sandbox.first}, {"told", &sandbox.told},   {"out", &sandbox.out},
      {"err", &sandbox.err},     {"rules", &sandbox.rules}, {"user_namespace", &sandbox.user_namespace}};
  for (const auto& [name, descriptor] : all)
    if (descriptor->valid()) tickets.emplace_back(name, descriptor->get());
  return tickets;
}

std::vector<std::string> NewcomersLimits(const SandboxPolicy& policy, SandboxLevel level) {
  return LimitWords(LimitsOfSandboxes(), level == SandboxLevel::kBubblewrap, policy.expendable);
}

const std::string& NewcomersFilter() {
  static const std::string filter = [] {
    FilterOptions options;
    options.own_network = true;
    std::string text;
    for (const unsigned char byte : SandboxFilterProgram(options)) text += fmt::format("{:02x}", byte);
    return text;
  }();
  return filter;
}

}  // namespace hone

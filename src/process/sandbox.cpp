#include "process/sandbox.h"

#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "process/landlock.h"
#include "process/sandbox_exec.h"

namespace hone {

namespace {

// Number of the socket over which the helper hands out its seccomp listener.
constexpr int kListenerFd = 20;

std::vector<fs::path> SystemFolders() {
  std::vector<fs::path> folders;
  for (const char* path : {"/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/opt", "/sys", "/nix"}) {
    std::error_code code;
    if (fs::exists(path, code)) folders.emplace_back(path);
  }
  return folders;
}

// Of /etc what loaders, compilers, the C library and GPU drivers read. The rest may hold secrets.
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

// Readable paths that no system folder covers, without repeats.
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
                                   "/dev",
                                   "--tmpfs",
                                   "/tmp",
                                   "--tmpfs",
                                   "/dev/shm",
                                   "--dir",
                                   "/run"};
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

std::vector<std::string> HelperArgv(const SandboxPolicy& policy, SandboxLevel level, const fs::path& helper) {
  std::vector<std::string> argv = {helper.string(), kSandboxExecWord, std::to_string(kListenerFd)};
  if (level == SandboxLevel::kLandlock) {
    argv.emplace_back(policy.loopback ? "landlock+loopback" : "landlock");
    argv.emplace_back(policy.private_folder);
    for (const fs::path& path : SystemFolders()) Append(argv, {"r", path});
    for (const fs::path& path : SystemSettings()) Append(argv, {"r", path});
    for (const fs::path& path : ExtraReadable(policy)) Append(argv, {"r", path});
    // Writable, because the CUDA driver names its threads there; see sandbox_mounts.cpp for what that leaves
    // open.
    Append(argv, {"w", "/proc"});
    for (const char* node : {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"})
      if (fs::exists(node)) Append(argv, {"w", node});
    if (policy.gpu)
      for (const fs::path& node : GpuNodes()) Append(argv, {"w", node});
    Append(argv, {"w", policy.private_folder});
  } else {
    argv.emplace_back(policy.loopback ? "seccomp+loopback" : "seccomp");
    argv.emplace_back(policy.private_folder);
  }
  argv.emplace_back("--");
  return argv;
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
  const fs::path own = OwnExecutable();
  ChildSpec wrapped = spec;
  wrapped.argv.clear();
  if (level == SandboxLevel::kBubblewrap) wrapped.argv = BubblewrapArgv(policy, own);
  const fs::path helper = level == SandboxLevel::kBubblewrap ? fs::path("/run/hone-sandbox") : own;
  for (std::string& word : HelperArgv(policy, level, helper)) wrapped.argv.push_back(std::move(word));
  wrapped.argv.insert(wrapped.argv.end(), spec.argv.begin(), spec.argv.end());

  HONE_ASSIGN_OR_RETURN(Channel::Pair pair, Channel::MakePair());
  wrapped.descriptors.emplace_back(pair.theirs.get(), kListenerFd);
  HONE_ASSIGN_OR_RETURN(started.child, Child::Spawn(wrapped));
  pair.theirs.Close();
  Result<UniqueFd> listener = pair.ours.ReceiveDescriptor(Deadline::After(10));
  if (!listener.ok()) {
    started.child->Kill();
    if (listener.error().kind == ErrorKind::kInterrupted) return std::move(listener).error();
    return Error{ErrorKind::kUnavailable, "the sandbox did not start: " + started.child->err()};
  }
  started.watch = std::make_unique<SyscallWatch>(std::move(*listener), policy.private_folder);
  return started;
}

}  // namespace hone

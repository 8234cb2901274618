#include "process/landlock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace hone {

namespace {

// These system call numbers are the same on every architecture.
constexpr long kCreateRuleset = 444;
constexpr long kAddRule = 445;
constexpr long kRestrictSelf = 446;

struct RulesetAttr {
  uint64_t handled_access_fs;
  uint64_t handled_access_net;
  uint64_t scoped;
};

struct __attribute__((packed)) PathBeneathAttr {
  uint64_t allowed_access;
  int32_t parent_fd;
};

constexpr uint64_t kExecute = 1 << 0, kWriteFile = 1 << 1, kReadFile = 1 << 2, kReadDir = 1 << 3;
constexpr uint64_t kAllOfVersion1 = (1 << 13) - 1;
constexpr uint64_t kRefer = 1 << 13, kTruncate = 1 << 14;
constexpr uint64_t kBindTcp = 1 << 0, kConnectTcp = 1 << 1;
constexpr uint64_t kScopeAbstractSockets = 1 << 0, kScopeSignals = 1 << 1;
// The rights that Landlock accepts for a file; other rights need a folder.
constexpr uint64_t kFileRights = kExecute | kWriteFile | kReadFile | kTruncate;

}  // namespace

int LandlockAbi() {
  const long version = syscall(kCreateRuleset, nullptr, 0, 1u);
  return version > 0 ? static_cast<int>(version) : 0;
}

UniqueFd MakeLandlockRules(const std::vector<LandlockRule>& rules, bool loopback) {
  const int abi = LandlockAbi();
  if (abi < 1) return {};
  RulesetAttr attr{};
  attr.handled_access_fs = kAllOfVersion1 | (abi >= 2 ? kRefer : 0) | (abi >= 3 ? kTruncate : 0);
  if (abi >= 4 && !loopback) attr.handled_access_net = kBindTcp | kConnectTcp;
  if (abi >= 6) attr.scoped = kScopeAbstractSockets | kScopeSignals;
  const size_t size = abi >= 6 ? sizeof attr : abi >= 4 ? 16 : 8;
  UniqueFd ruleset(static_cast<int>(syscall(kCreateRuleset, &attr, size, 0u)));
  if (!ruleset.valid()) return {};
  for (const LandlockRule& rule : rules) {
    UniqueFd path(open(rule.path.c_str(), O_PATH | O_CLOEXEC));
    struct stat info {};
    if (!path.valid() || fstat(path.get(), &info) != 0) continue;
    PathBeneathAttr beneath{};
    beneath.parent_fd = path.get();
    beneath.allowed_access = rule.writable ? attr.handled_access_fs : (kExecute | kReadFile | kReadDir);
    if (!S_ISDIR(info.st_mode)) beneath.allowed_access &= kFileRights & attr.handled_access_fs;
    if (syscall(kAddRule, ruleset.get(), 1, &beneath, 0u) != 0) return {};
  }
  return ruleset;
}

bool RestrictSelf(const UniqueFd& rules) {
  return rules.valid() && syscall(kRestrictSelf, rules.get(), 0u) == 0;
}

}  // namespace hone

// Landlock, spoken to by system call: Debian 12's headers know only its first versions, the kernel may
// know more. Rules can only be added, so what is not listed is neither readable nor writable.
#pragma once

#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace hone {

// 0 where the kernel has none.
int LandlockAbi();

struct LandlockRule {
  std::string path;
  bool writable = false;
};

// The rules as a descriptor; invalid where that failed. TCP is refused where the kernel can (version 4)
// unless there is a `loopback` of its own, and signals to processes outside (version 6).
UniqueFd MakeLandlockRules(const std::vector<LandlockRule>& rules, bool loopback = false);

// Restricts the calling process and everything it starts. Needs no_new_privs.
bool RestrictSelf(const UniqueFd& rules);

}  // namespace hone

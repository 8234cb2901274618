// Landlock by raw system calls, because Debian 12's headers lack its later versions. Rules can only add
// rights: a path that no rule lists is neither readable nor writable.
#pragma once

#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace hone {

// Version of Landlock's interface; 0 if the kernel has no Landlock.
int LandlockAbi();

struct LandlockRule {
  std::string path;
  bool writable = false;
};

// Returns the rules as a descriptor, invalid on failure. Forbids TCP if the kernel supports that (version 4),
// unless the process has a private `loopback`. Forbids signals to processes outside (version 6).
UniqueFd MakeLandlockRules(const std::vector<LandlockRule>& rules, bool loopback = false);

// Restricts the calling process and its later children. Needs no_new_privs.
bool RestrictSelf(const UniqueFd& rules);

}  // namespace hone

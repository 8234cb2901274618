// Landlock, spoken to by system call: Debian 12's headers know only its first versions, the kernel may
// know more. Rules can only be added, so what is not listed is neither readable nor writable.
#pragma once

#include <string>
#include <vector>

namespace hone {

// 0 where the kernel has none.
int LandlockAbi();

struct LandlockRule {
  std::string path;
  bool writable = false;
};

// Restricts the calling process and everything it starts. TCP is refused where the kernel can (version 4)
// unless there is a `loopback` of its own, and signals to processes outside (version 6). Needs no_new_privs.
bool RestrictSelf(const std::vector<LandlockRule>& rules, bool loopback = false);

}  // namespace hone

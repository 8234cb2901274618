// The file system of a candidate at the Landlock level, where the kernel allows a mount namespace (as root):
// everything read-only, with a /proc, a /tmp, a /dev/shm and a /run of its own. Landlock alone does not cover
// modes, times and attributes of files, nor sockets that lie in the file system.
#pragma once

#include <string>
#include <vector>

namespace hone {

struct MountPlan {
  std::string writable;               // the private folder
  std::vector<std::string> readable;  // what must stay in sight below the places that become private
};

// Changes the mounts of the calling process, which has a mount namespace of its own. Returns what failed,
// with errno set; empty: nothing.
std::string MakePrivateMounts(const MountPlan& plan);

// The places that are private afterwards and may be written.
inline constexpr const char* kPrivatePlaces[] = {"/tmp", "/var/tmp", "/dev/shm"};

}  // namespace hone

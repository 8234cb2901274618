// The file system of a candidate at the Landlock level, if the kernel permits a mount namespace (as root):
// read-only, with a private /proc, /tmp, /dev/shm and /run. Landlock alone covers neither modes, times and
// attributes of files nor sockets in the file system.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hone {

struct MountPlan {
  std::string writable;               // the private folder
  std::vector<std::string> readable;  // must stay visible below the places that become private
  int64_t tmpfs_bytes = 0;            // size of each private place
};

// Changes the mounts of the calling process, which must be in its own mount namespace. Returns the name of
// the step that failed, with errno set; empty on success.
std::string MakePrivateMounts(const MountPlan& plan);

// Places that are private and writable afterwards.
inline constexpr const char* kPrivatePlaces[] = {"/tmp", "/var/tmp", "/dev/shm"};

}  // namespace hone

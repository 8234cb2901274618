// The system calls that change a file. The filter sends them to the parent, which decides. Both use this
// table, so that they agree on the position of the path.
#pragma once

namespace hone {

struct WatchedCall {
  const char* name;
  const char* did;      // for the record: "opened PATH for writing"
  int folder;           // index of the argument with the folder's descriptor; -1: the working folder
  int path;             // index of the argument with the path; -1: `folder` is the file itself
  int open_flags = -1;  // for open calls: index of the flags; only opening for writing is sent
};

inline constexpr WatchedCall kWatchedCalls[] = {
    {"open", "opened", -1, 0, 1},
    {"openat", "opened", 0, 1, 2},
    {"creat", "opened", -1, 0},
    {"truncate", "cut", -1, 0},
    {"chmod", "changed the mode of", -1, 0},
    {"fchmod", "changed the mode of", 0, -1},
    {"fchmodat", "changed the mode of", 0, 1},
    {"chown", "changed the owner of", -1, 0},
    {"lchown", "changed the owner of", -1, 0},
    {"fchown", "changed the owner of", 0, -1},
    {"fchownat", "changed the owner of", 0, 1},
    {"utime", "changed the times of", -1, 0},
    {"utimes", "changed the times of", -1, 0},
    {"futimesat", "changed the times of", 0, 1},
    {"utimensat", "changed the times of", 0, 1},
    {"setxattr", "changed the attributes of", -1, 0},
    {"lsetxattr", "changed the attributes of", -1, 0},
    {"fsetxattr", "changed the attributes of", 0, -1},
    {"removexattr", "changed the attributes of", -1, 0},
    {"lremovexattr", "changed the attributes of", -1, 0},
    {"fremovexattr", "changed the attributes of", 0, -1},
};

}  // namespace hone

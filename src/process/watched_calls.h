// The system calls that change a file, which the filter sends to the parent and the parent decides upon:
// one table, so that the two agree on where the path stands.
#pragma once

namespace hone {

struct WatchedCall {
  const char* name;
  const char* did;      // for the record: "opened PATH for writing"
  int folder;           // argument that holds the descriptor of the folder; -1: the working folder
  int path;             // argument that points to the path; -1: `folder` is the file itself
  int open_flags = -1;  // for calls that open: the argument with the flags; only opening for writing is sent
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

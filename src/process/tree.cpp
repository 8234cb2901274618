#include "process/tree.h"

#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "base/interrupt.h"

namespace hone {

namespace {

struct Entry {
  pid_t parent = 0;
  char state = '?';
};

// Reads /proc/<pid>/stat. The name in parentheses may hold any character, so reading starts after the last
// ')'.
bool ReadStat(pid_t pid, Entry* entry) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return false;
  char text[1024];
  const size_t size = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[size] = '\0';
  const char* after = std::strrchr(text, ')');
  if (after == nullptr) return false;
  long parent = 0;
  if (std::sscanf(after + 1, " %c %ld", &entry->state, &parent) != 2) return false;
  entry->parent = static_cast<pid_t>(parent);
  return true;
}

std::map<pid_t, Entry> ReadTable() {
  std::map<pid_t, Entry> table;
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return table;
  while (const dirent* item = readdir(folder)) {
    const pid_t pid = static_cast<pid_t>(std::strtol(item->d_name, nullptr, 10));
    Entry entry;
    if (pid > 0 && ReadStat(pid, &entry)) table[pid] = entry;
  }
  closedir(folder);
  return table;
}

std::vector<pid_t> Below(const std::map<pid_t, Entry>& table, pid_t root) {
  std::vector<pid_t> members;
  if (table.count(root) != 0) members.push_back(root);
  std::multimap<pid_t, pid_t> children;
  for (const auto& [pid, entry] : table) children.emplace(entry.parent, pid);
  for (size_t i = 0; i < members.size(); ++i) {
    const auto [first, last] = children.equal_range(members[i]);
    for (auto it = first; it != last; ++it) members.push_back(it->second);
  }
  return members;
}

// Reads the kernel's own list of children if it has one. That takes microseconds instead of a walk over
// /proc.
void ReadChildren(pid_t pid, std::vector<pid_t>* children) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR* folder = opendir(path);
  if (folder == nullptr) return;  // the process has ended and has no children
  while (const dirent* item = readdir(folder)) {
    if (item->d_name[0] == '.') continue;
    char list[128];
    std::snprintf(list, sizeof list, "/proc/%d/task/%.20s/children", pid, item->d_name);
    std::FILE* file = std::fopen(list, "re");
    if (file == nullptr) continue;
    int child = 0;
    while (std::fscanf(file, "%d", &child) == 1) children->push_back(child);
    std::fclose(file);
  }
  closedir(folder);
}

bool KernelListsChildren() {
  static const bool known = [] {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    return access(path, R_OK) == 0;
  }();
  return known;
}

}  // namespace

std::vector<pid_t> ProcessTree(pid_t root) {
  if (!KernelListsChildren()) return Below(ReadTable(), root);
  std::vector<pid_t> members = {root};
  for (size_t i = 0; i < members.size(); ++i) ReadChildren(members[i], &members);
  return members;
}

void FreezeTree(pid_t root) {
  size_t known = 0;
  for (int pass = 0; pass < 400; ++pass) {
    bool all_stopped = true;
    const std::vector<pid_t> members = ProcessTree(root);
    for (pid_t pid : members) {
      Entry entry;
      if (!ReadStat(pid, &entry) || std::strchr("TtZX", entry.state) != nullptr) continue;
      all_stopped = false;
      kill(pid, SIGSTOP);
    }
    // Two equal looks in a row mean that no process was forked between them.
    if (all_stopped && members.size() == known) return;
    known = members.size();
    if (!all_stopped) usleep(200);
  }
}

void ThawTree(pid_t root) {
  for (pid_t pid : ProcessTree(root)) kill(pid, SIGCONT);
}

void KillTree(pid_t root) {
  // The whole tree is stopped first. Otherwise a child that is forked during the walk would lose its parent
  // and escape.
  FreezeTree(root);
  const std::vector<pid_t> members = ProcessTree(root);
  for (auto it = members.rbegin(); it != members.rend(); ++it) kill(*it, SIGKILL);
  auto gone = [](pid_t pid) {
    Entry entry;
    return !ReadStat(pid, &entry) || entry.state == 'Z' || entry.state == 'X';
  };
  for (int pass = 0; pass < 2000 && !std::all_of(members.begin(), members.end(), gone); ++pass) usleep(500);
  // Orphans are now children of this process (BecomeSubreaper) and stay in the process table until it
  // collects them. The root's owner collects the root's exit status.
  for (const pid_t pid : members)
    if (pid != root) waitpid(pid, nullptr, WNOHANG);
}

void BecomeSubreaper() {
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

void KillStrays(const std::vector<pid_t>& keep) {
  for (int pass = 0; pass < 20; ++pass) {
    bool found = false;
    for (const auto& [pid, entry] : ReadTable()) {
      if (entry.parent != getpid() || std::find(keep.begin(), keep.end(), pid) != keep.end()) continue;
      found = true;
      KillTree(pid);
      waitpid(pid, nullptr, 0);
    }
    if (!found) return;
  }
}

}  // namespace hone

#include "process/syscall_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <seccomp.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/text.h"

namespace hone {

namespace {

std::string ReadString(pid_t pid, uint64_t address) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/mem", pid);
  UniqueFd memory(open(path, O_RDONLY | O_CLOEXEC));
  if (!memory.valid()) return "";
  char text[4096];
  const ssize_t got = pread(memory.get(), text, sizeof text - 1, static_cast<off_t>(address));
  if (got <= 0) return "";
  text[got] = '\0';
  return text;
}

fs::path Absolute(pid_t pid, const std::string& path) {
  if (StartsWith(path, "/")) return fs::path(path).lexically_normal();
  std::error_code code;
  const fs::path folder = fs::read_symlink("/proc/" + std::to_string(pid) + "/cwd", code);
  return (folder / path).lexically_normal();
}

}  // namespace

bool HarmlessWrite(const fs::path& path, const fs::path& private_folder) {
  const std::string text = path.string();
  const std::string own = private_folder.string() + "/";
  if (text.empty() || StartsWith(text, own) || text + "/" == own) return true;
  for (const char* prefix : {"/dev/", "/tmp/", "/var/tmp/"})
    if (StartsWith(text, prefix)) return true;
  if (StartsWith(text, "/proc/self/") || StartsWith(text, "/proc/thread-self/")) return true;
  // The CUDA driver names its threads and tries to create device nodes that are already there.
  if (StartsWith(text, "/proc/") && Contains(text, "/task/") && EndsWith(text, "/comm")) return true;
  if (StartsWith(text, "/proc/driver/nvidia")) return true;
  return EndsWith(text, ".pyc") || Contains(text, "/__pycache__/");
}

SyscallWatch::SyscallWatch(UniqueFd listener, fs::path private_folder)
    : listener_(std::move(listener)), private_folder_(std::move(private_folder)) {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) == 0) {
    stop_read_ = UniqueFd(ends[0]);
    stop_write_ = UniqueFd(ends[1]);
  }
  thread_ = std::thread([this] { Run(); });
}

SyscallWatch::~SyscallWatch() {
  stop_write_.Close();
  thread_.join();
}

std::vector<std::string> SyscallWatch::attempts() const {
  std::lock_guard lock(mutex_);
  return attempts_;
}

void SyscallWatch::Forget() {
  std::lock_guard lock(mutex_);
  attempts_.clear();
}

void SyscallWatch::Record(std::string sentence) {
  std::lock_guard lock(mutex_);
  if (attempts_.size() >= 16 || std::find(attempts_.begin(), attempts_.end(), sentence) != attempts_.end())
    return;
  attempts_.push_back(std::move(sentence));
}

void SyscallWatch::Run() {
  seccomp_notif* request = nullptr;
  seccomp_notif_resp* response = nullptr;
  if (seccomp_notify_alloc(&request, &response) != 0) return;
  const int socket_number = SCMP_SYS(socket);
  const int openat_number = SCMP_SYS(openat);
  while (true) {
    pollfd polls[2] = {{listener_.get(), POLLIN, 0}, {stop_read_.get(), POLLIN, 0}};
    if (poll(polls, 2, -1) < 0 && errno != EINTR) break;
    if (polls[1].revents != 0 || (polls[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) break;
    if ((polls[0].revents & POLLIN) == 0) continue;
    std::memset(request, 0, sizeof *request);
    if (seccomp_notify_receive(listener_.get(), request) != 0) continue;
    *response = {};
    response->id = request->id;
    if (request->data.nr == socket_number) {
      Record("opened a network socket");
      response->error = -EACCES;
    } else {
      const uint64_t address = request->data.args[request->data.nr == openat_number ? 1 : 0];
      const pid_t pid = static_cast<pid_t>(request->pid);
      const fs::path path = Absolute(pid, ReadString(pid, address));
      if (!HarmlessWrite(path, private_folder_))
        Record("opened " + SafeForTerminal(path.string()) + " for writing");
      response->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    }
    seccomp_notify_respond(listener_.get(), response);
  }
  seccomp_notify_free(request, response);
}

}  // namespace hone

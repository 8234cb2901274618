#include "process/syscall_watch.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <map>

#include "base/text.h"
#include "base/threads.h"
#include "process/watched_calls.h"

namespace hone {

namespace {

// The number is the same on every architecture. Debian 12's headers may lack it.
constexpr long kPidfdOpen = 434;
constexpr long kPidfdGetfd = 438;

const WatchedCall* FindWatchedCall(int number) {
  static const std::map<int, const WatchedCall*> kByNumber = [] {
    std::map<int, const WatchedCall*> calls;
    for (const WatchedCall& call : kWatchedCalls)
      calls.emplace(seccomp_syscall_resolve_name(call.name), &call);
    return calls;
  }();
  const auto found = kByNumber.find(number);
  return found == kByNumber.end() ? nullptr : found->second;
}

bool Inside(const fs::path& path, const fs::path& folder) {
  return !folder.empty() && (path == folder || StartsWith(path.string(), folder.string() + "/"));
}

// The C library connects to these daemons for user lookups and logging, and works without them. The GPU
// driver connects to its own daemon.
bool LibrariesAsk(const std::string& socket) {
  for (const char* path : {"/nscd/socket", "/dev/log", "/systemd/", "/nvidia-persistenced/"})
    if (Contains(socket, path)) return true;
  return false;
}

// Prints an address such as "192.0.2.1:80" for the record.
std::string NetworkAddress(const std::string& bytes) {
  char text[INET6_ADDRSTRLEN] = "";
  sockaddr_in6 six{};
  std::memcpy(&six, bytes.data(), std::min(bytes.size(), sizeof six));
  const auto* four = reinterpret_cast<const sockaddr_in*>(&six);
  if (six.sin6_family == AF_INET6)
    inet_ntop(AF_INET6, &six.sin6_addr, text, sizeof text);
  else
    inet_ntop(AF_INET, &four->sin_addr, text, sizeof text);
  return std::string(text) + ":" + std::to_string(ntohs(four->sin_port));
}

}  // namespace

bool HarmlessWrite(const fs::path& path, const fs::path& private_folder, pid_t own_id) {
  const std::string text = path.string();
  if (text.empty() || Inside(path, private_folder)) return true;
  // The kernel would end Hone or the reference in place of the candidate.
  if (StartsWith(text, "/proc/") && Contains(path.filename().string(), "oom_")) return false;
  for (const char* folder : {"/dev", "/tmp", "/var/tmp"})
    if (Inside(path, folder)) return true;
  if (Inside(path, "/proc/" + std::to_string(own_id))) return true;
  // The CUDA driver names its threads and tries to create device nodes that already exist.
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
  thread_ = StartThread([this] { Run(); });
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

// This process connects a copy of the caller's descriptor. If the caller connected itself, another of its
// threads could change the address after this check.
SyscallWatch::Answer SyscallWatch::ConnectInside(const TracedProcess& process, int descriptor,
                                                 const fs::path& socket) {
  UniqueFd handle(static_cast<int>(syscall(kPidfdOpen, process.id(), 0)));
  UniqueFd theirs(static_cast<int>(syscall(kPidfdGetfd, handle.get(), descriptor, 0)));
  UniqueFd file(open(process.FromHere(socket).c_str(), O_PATH | O_CLOEXEC | O_NOFOLLOW));
  if (!theirs.valid() || !file.valid()) return {.error = errno};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "/proc/self/fd/" + std::to_string(file.get());
  std::memcpy(address.sun_path, name.c_str(), name.size());
  // This thread must not block. A full queue is an error, as for a non-blocking socket.
  const int flags = fcntl(theirs.get(), F_GETFL);
  fcntl(theirs.get(), F_SETFL, flags | O_NONBLOCK);
  const int code = connect(theirs.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
  const int error = code == 0 ? 0 : errno;
  fcntl(theirs.get(), F_SETFL, flags);
  return {.error = error};
}

SyscallWatch::Answer SyscallWatch::DecideConnection(const seccomp_notif& request, bool send) {
  const TracedProcess process(static_cast<pid_t>(request.pid));
  const auto* arguments = request.data.args;
  const uint64_t length = std::min<uint64_t>(arguments[send ? 5 : 2], sizeof(sockaddr_un));
  const std::string bytes = process.Read(arguments[send ? 4 : 1], static_cast<size_t>(length));
  sa_family_t family = AF_UNSPEC;
  if (bytes.size() >= sizeof family) std::memcpy(&family, bytes.data(), sizeof family);
  if (family == AF_INET || family == AF_INET6) {
    Record("connected to " + NetworkAddress(bytes));
    return {.error = EACCES};
  }
  if (family != AF_UNIX || send) return {.error = EACCES};
  const std::string name = bytes.substr(std::min(bytes.size(), offsetof(sockaddr_un, sun_path)));
  if (name.empty() || name[0] == '\0')
    return {.error = ECONNREFUSED};  // the socket is not in the file system
  const fs::path socket = process.Resolve(AT_FDCWD, name.substr(0, name.find('\0')));
  if (Inside(socket, private_folder_) || Inside(socket, "/tmp"))
    return ConnectInside(process, static_cast<int>(arguments[0]), socket);
  if (!LibrariesAsk(socket.string())) Record("connected to the socket " + SafeForTerminal(socket.string()));
  return {.error = ECONNREFUSED};
}

SyscallWatch::Answer SyscallWatch::Decide(const seccomp_notif& request) {
  if (request.data.nr == SCMP_SYS(connect)) return DecideConnection(request, false);
  if (request.data.nr == SCMP_SYS(sendto)) return DecideConnection(request, true);
  const WatchedCall* call = FindWatchedCall(request.data.nr);
  if (call == nullptr) return {.error = EPERM};
  const TracedProcess process(static_cast<pid_t>(request.pid));
  const int folder = call->folder < 0 ? AT_FDCWD : static_cast<int>(request.data.args[call->folder]);
  const uint64_t address = call->path < 0 ? 0 : request.data.args[call->path];
  const fs::path path = process.Resolve(folder, address == 0 ? "" : process.ReadString(address));
  if (HarmlessWrite(path, private_folder_, process.own_id())) return {.go_on = true};
  const bool opens = std::strcmp(call->did, "opened") == 0;
  Record(std::string(call->did) + " " + SafeForTerminal(path.string()) + (opens ? " for writing" : ""));
  return {.error = EACCES};
}

void SyscallWatch::Run() {
  seccomp_notif* request = nullptr;
  seccomp_notif_resp* response = nullptr;
  if (seccomp_notify_alloc(&request, &response) != 0) return;
  while (true) {
    pollfd polls[2] = {{listener_.get(), POLLIN, 0}, {stop_read_.get(), POLLIN, 0}};
    if (poll(polls, 2, -1) < 0 && errno != EINTR) break;
    if (polls[1].revents != 0 || (polls[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) break;
    if ((polls[0].revents & POLLIN) == 0) continue;
    std::memset(request, 0, sizeof *request);
    if (seccomp_notify_receive(listener_.get(), request) != 0) continue;
    const Answer answer = Decide(*request);
    *response = {};
    response->id = request->id;
    response->error = -answer.error;
    if (answer.go_on) response->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    seccomp_notify_respond(listener_.get(), response);
  }
  seccomp_notify_free(request, response);
}

}  // namespace hone

#include "pipeline/agent_desk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/text.h"

namespace hone {

namespace {

constexpr const char* kSocketName = ".hone-desk";
// A byte of a candidate may take six bytes in a JSON string.
constexpr size_t kMostLineBytes = 6 * kMostCandidateBytes + 65536;

struct DeskAddress {
  UniqueFd folder;  // must stay open while the address is used
  sockaddr_un address{};
};

// A socket's path is limited to 107 bytes, which a run's folder may exceed. The path therefore goes through a
// descriptor of the folder.
Result<DeskAddress> AddressIn(const fs::path& folder) {
  DeskAddress out;
  out.folder = UniqueFd(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!out.folder.valid()) return ErrnoError("cannot open " + folder.string());
  out.address.sun_family = AF_UNIX;
  const std::string path = fmt::format("/proc/self/fd/{}/{}", out.folder.get(), kSocketName);
  std::memcpy(out.address.sun_path, path.c_str(), path.size() + 1);
  return out;
}

Result<UniqueFd> NewSocket() {
  UniqueFd made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!made.valid()) return ErrnoError("cannot make a socket");
  return made;
}

bool SendLine(int connection, const Json& message) {
  const std::string line = DumpJson(message) + "\n";
  for (size_t done = 0; done < line.size();) {
    const ssize_t sent = send(connection, line.data() + done, line.size() - done, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    done += static_cast<size_t>(sent);
  }
  return true;
}

// Reads up to the end of a line. `stop` is a descriptor that ends the wait when it becomes readable.
Result<std::string> ReadLine(int connection, int stop, size_t most, Deadline deadline) {
  std::string line;
  while (true) {
    pollfd polls[2] = {{connection, POLLIN, 0}, {stop, POLLIN, 0}};
    const int ready = poll(polls, 2, deadline.poll_ms());
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return Error{ErrorKind::kTimeout, "the line did not end in time"};
    if (polls[1].revents != 0) return InterruptedError();
    char buffer[65536];
    const ssize_t got = recv(connection, buffer, sizeof buffer, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Error{ErrorKind::kIo, "the other side hung up"};
    const char* end = static_cast<const char*>(std::memchr(buffer, '\n', static_cast<size_t>(got)));
    line.append(buffer, end == nullptr ? static_cast<size_t>(got) : static_cast<size_t>(end - buffer));
    if (line.size() > most)
      return Error{ErrorKind::kInvalid, "the line is longer than " + HumanBytes(static_cast<double>(most))};
    if (end != nullptr) return line;
  }
}

Json Refusal(const std::string& why) {
  return {{"status", "refused"}, {"message", why}};
}

bool IsOurs(int connection) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == getuid();
}

}  // namespace

Result<DeskRequest> ParseDeskRequest(std::string_view line) {
  const Result<Json> json = ParseJson(line);
  if (!json.ok() || !json->is_object())
    return Error{ErrorKind::kUsage, "a request is one JSON object on one line"};
  DeskRequest request;
  const struct {
    const char* name;
    std::string* field;
    size_t most;
  } fields[] = {{"verb", &request.verb, 16},
                {"name", &request.name, 4096},
                {"source", &request.source, kMostCandidateBytes},
                {"parent", &request.parent, 256},
                {"note", &request.note, 4096}};
  for (const auto& [name, field, most] : fields) {
    const Json& member = GetMember(*json, name);
    if (member.is_null()) continue;
    if (!member.is_string()) return Error{ErrorKind::kUsage, fmt::format("'{}' must be a string", name)};
    *field = member.get<std::string>();
    if (field->size() > most)
      return Error{ErrorKind::kUsage,
                   fmt::format("'{}' is longer than {}", name, HumanBytes(static_cast<double>(most)))};
  }
  if (request.verb != "bench" && request.verb != "lint" && request.verb != "history")
    return Error{ErrorKind::kUsage, fmt::format("'{}' is no request; there are bench, lint and history",
                                                SafeForTerminal(request.verb))};
  if (request.verb != "history" && Trim(request.source).empty())
    return Error{ErrorKind::kUsage, "the file is empty"};
  return request;
}

Json ToJson(const DeskRequest& request) {
  return {{"verb", request.verb},
          {"name", request.name},
          {"source", request.source},
          {"parent", request.parent},
          {"note", request.note}};
}

Result<std::unique_ptr<AgentDesk>> AgentDesk::Open(const fs::path& folder, Handler handler) {
  HONE_ASSIGN_OR_RETURN(const DeskAddress at, AddressIn(folder));
  std::error_code ignored;
  fs::remove_all(folder / kSocketName, ignored);  // of a killed session, or any other file
  HONE_ASSIGN_OR_RETURN(UniqueFd listener, NewSocket());
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&at.address), sizeof at.address) != 0 ||
      chmod(at.address.sun_path, 0600) != 0 || listen(listener.get(), 64) != 0)
    return ErrnoError("cannot listen in " + folder.string());
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return ErrnoError("cannot make a pipe");
  return std::unique_ptr<AgentDesk>(
      new AgentDesk(folder, std::move(listener), UniqueFd(ends[0]), UniqueFd(ends[1]), std::move(handler)));
}

AgentDesk::AgentDesk(fs::path folder, UniqueFd listener, UniqueFd stop_read, UniqueFd stop_write,
                     Handler handler)
    : folder_(std::move(folder)),
      listener_(std::move(listener)),
      stop_read_(std::move(stop_read)),
      stop_write_(std::move(stop_write)),
      handler_(std::move(handler)) {
  thread_ = std::thread([this] { Accept(); });
}

void AgentDesk::Close() {
  if (!thread_.joinable()) return;
  stop_write_.Close();  // stays readable, so that no wait for a request continues
  thread_.join();
  listener_.Close();
  std::error_code ignored;
  fs::remove(folder_ / kSocketName, ignored);
  std::unique_lock lock(mutex_);
  answered_.wait(lock, [this] { return open_ == 0; });
}

void AgentDesk::Accept() {
  while (true) {
    pollfd polls[2] = {{listener_.get(), POLLIN, 0}, {stop_read_.get(), POLLIN, 0}};
    if (poll(polls, 2, -1) < 0 && errno != EINTR) return;
    if (polls[1].revents != 0) return;
    if (polls[0].revents == 0) continue;
    UniqueFd connection(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!connection.valid()) {
      // For example without free descriptors: the connection waits, and this loop must not spin.
      if (errno != EINTR && errno != ECONNABORTED && !SleepUnlessInterrupted(0.05)) return;
      continue;
    }
    if (!IsOurs(connection.get())) continue;
    // A client that stops reading must not block an answer for ever.
    const timeval patience{static_cast<time_t>(kPatience_s), 0};
    setsockopt(connection.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    {
      const std::scoped_lock lock(mutex_);
      if (open_ >= kMostWaiting) {
        (void)SendLine(connection.get(),
                       Refusal(fmt::format("{} requests are waiting already; wait for their answers first",
                                           kMostWaiting)));
        continue;
      }
      ++open_;
    }
    try {
      std::thread([this, raw = connection.get()] {
        Serve(UniqueFd(raw));
        const std::scoped_lock lock(mutex_);
        --open_;
        answered_.notify_all();
      }).detach();
      connection.release();
    } catch (const std::system_error&) {
      const std::scoped_lock lock(mutex_);
      --open_;
    }
  }
}

void AgentDesk::Serve(UniqueFd connection) {
  const Result<std::string> line =
      ReadLine(connection.get(), stop_read_.get(), kMostLineBytes, Deadline::After(kPatience_s));
  if (!line.ok()) {
    (void)SendLine(connection.get(), Refusal(line.error().message));
    return;
  }
  const Result<DeskRequest> request = ParseDeskRequest(*line);
  if (!request.ok()) {
    (void)SendLine(connection.get(), Refusal(request.error().message));
    return;
  }
  const auto still_there = [&] {
    char byte = 0;
    const ssize_t got = recv(connection.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
  };
  Json answer;
  try {
    answer = handler_(*request, still_there);
  } catch (const std::exception& error) {
    answer = Refusal(error.what());
  }
  (void)SendLine(connection.get(), answer);
}

Result<Json> AskDesk(const fs::path& folder, const DeskRequest& request) {
  const Error nobody{ErrorKind::kUnavailable,
                     "the run that this folder belongs to has ended or was stopped; nothing was judged"};
  const Result<DeskAddress> at = AddressIn(folder);
  if (!at.ok()) return at.error();
  HONE_ASSIGN_OR_RETURN(const UniqueFd connection, NewSocket());
  if (connect(connection.get(), reinterpret_cast<const sockaddr*>(&at->address), sizeof at->address) != 0)
    return nobody;
  // A desk that rejects a request does not read it, so its answer counts even if sending failed.
  (void)SendLine(connection.get(), ToJson(request));
  const Result<std::string> line = ReadLine(connection.get(), InterruptFd(), 64u << 20, Deadline::Never());
  if (!line.ok()) return line.error().kind == ErrorKind::kInterrupted ? line.error() : nobody;
  return ParseJson(*line).WithContext("the answer of the run");
}

}  // namespace hone

#include "dashboard/http_connection.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/text.h"

namespace hone {

namespace {

// How long a closing connection waits for its client to read the reply and close.
constexpr double kDrain_s = 1;

// Headers of every reply. They allow only Hone's own scripts and styles: no other host, no frames, no content
// sniffing. The URL may contain the token, so it is not sent to other hosts.
constexpr std::pair<const char*, const char*> kHeaders[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
     "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
};

// A header value with a line end would become two headers.
bool IsHeaderValue(const std::string& value) {
  return value.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos;
}

// Status line and headers, up to the empty line. A page's own header replaces the common one with the same
// name.
std::string HeadOf(int status, const HttpReply& reply) {
  std::vector<std::pair<std::string, std::string>> headers = {{"Content-Type", reply.content_type}};
  headers.insert(headers.end(), std::begin(kHeaders), std::end(kHeaders));
  for (const auto& own : reply.headers) {
    if (!IsHeaderValue(own.second)) continue;
    std::erase_if(headers, [&](const auto& each) { return ToLower(each.first) == ToLower(own.first); });
    headers.push_back(own);
  }
  std::string text = fmt::format("HTTP/1.1 {} {}\r\n", status, StatusText(status));
  for (const auto& [name, value] : headers) text += fmt::format("{}: {}\r\n", name, value);
  return text;
}

bool MustWait() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

HttpConnection::HttpConnection(UniqueFd socket, ConnectionHost& host)
    : socket_(std::move(socket)),
      host_(host),
      reader_(host.options().most_head_bytes, host.options().most_body_bytes),
      // Covers the whole request, so that a client that sends single bytes slowly is disconnected.
      deadline_(Deadline::After(host.options().read_seconds)) {}

void HttpConnection::TurnAway() {
  linger_ = false;
  RefuseRequest(503, "too many connections; try again");
}

short HttpConnection::poll_events() const {
  switch (phase_) {
    case Phase::kHandling:
      return 0;
    case Phase::kReplying:
      return POLLOUT;
    case Phase::kStreaming:
      return static_cast<short>(POLLIN | (queue_.empty() ? 0 : POLLOUT));
    default:
      return POLLIN;
  }
}

void HttpConnection::Continue(short happened) {
  if (deadline_.passed()) return Close();
  if ((happened & POLLOUT) != 0) Write();
  if (closed() || phase_ == Phase::kHandling || phase_ == Phase::kReplying) {
    // A reset is an error. A client that has only stopped sending still waits for its reply.
    if (!closed() && (happened & POLLERR) != 0) Close();
    return;
  }
  if ((happened & (POLLIN | POLLHUP | POLLERR)) != 0) Read();
}

void HttpConnection::StartReading() {
  phase_ = Phase::kReading;
  head_checked_ = false;
  deadline_ = Deadline::After(host_.options().read_seconds);
  Advance(reader_.Next());
}

void HttpConnection::Read() {
  char buffer[16 * 1024];
  const ssize_t count = recv(socket_.get(), buffer, sizeof buffer, 0);
  if (count < 0 && MustWait()) return;
  if (count <= 0) return Close();
  // A stream expects no more data from its client, and a closing connection discards it.
  if (phase_ == Phase::kReading) Advance(reader_.Feed({buffer, static_cast<size_t>(count)}));
}

void HttpConnection::Advance(RequestReader::State state) {
  const auto& check_head = host_.options().check_head;
  if (check_head && !head_checked_ && state != RequestReader::State::kBad && reader_.head_is_whole()) {
    head_checked_ = true;
    if (const std::optional<HttpReply> refused = check_head(reader_.request_head())) {
      host_.CountRequest();
      // The rest of the request would be read as the next one.
      keep_alive_ = false;
      return Reply(*refused, false);
    }
  }
  if (state == RequestReader::State::kNeedsMore) return;
  host_.CountRequest();
  if (state == RequestReader::State::kBad) return RefuseRequest(reader_.refusal(), reader_.why());
  keep_alive_ = reader_.keep_alive();
  phase_ = Phase::kHandling;
  deadline_ = Deadline::Never();
  const bool head = reader_.head();
  host_.Handle(reader_.request(), [self = shared_from_this(), head](HttpReply reply) {
    if (self->closed()) return;
    if (reply.events && !head) return self->Stream(*reply.events);
    self->Reply(reply, head);
  });
}

void HttpConnection::RefuseRequest(int status, const std::string& sentence) {
  keep_alive_ = false;
  if (host_.options().refusal) return Reply(host_.options().refusal(status, sentence), false);
  HttpReply reply;
  reply.status = status;
  reply.content_type = "text/plain; charset=utf-8";
  reply.body = sentence + "\n";
  Reply(reply, false);
}

void HttpConnection::Reply(const HttpReply& reply, bool head) {
  host_.CountReply(reply.status);
  phase_ = Phase::kReplying;
  deadline_ = Deadline::After(host_.options().write_seconds);
  std::string text = HeadOf(reply.status, reply);
  if (reply.status != 304) text += fmt::format("Content-Length: {}\r\n", reply.body.size());
  if (!keep_alive_) text += "Connection: close\r\n";
  text += "\r\n";
  if (!head) text += reply.body;
  queue_.push_back(std::make_shared<const std::string>(std::move(text)));
  queued_bytes_ += queue_.back()->size();
  Write();
}

void HttpConnection::Stream(const EventSubscription& events) {
  HttpReply reply;
  reply.content_type = "text/event-stream; charset=utf-8";
  phase_ = Phase::kStreaming;
  Queue(std::make_shared<const std::string>(HeadOf(200, reply) + "Connection: close\r\n\r\n"));
  if (!closed()) host_.Watch(events, shared_from_this());
}

void HttpConnection::Queue(std::shared_ptr<const std::string> bytes) {
  if (closed()) return;
  queued_bytes_ += bytes->size();
  // The viewer is too slow. Its browser reconnects and names the last event that it saw.
  if (queued_bytes_ > host_.options().most_queued_bytes) return Close();
  if (queue_.empty()) deadline_ = Deadline::After(host_.options().write_seconds);
  queue_.push_back(std::move(bytes));
  Write();
}

void HttpConnection::Write() {
  while (!queue_.empty()) {
    const std::string& bytes = *queue_.front();
    const ssize_t count =
        send(socket_.get(), bytes.data() + written_, bytes.size() - written_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && MustWait()) return;
    if (count < 0) return Close();
    written_ += static_cast<size_t>(count);
    if (written_ < bytes.size()) continue;
    queued_bytes_ -= bytes.size();
    written_ = 0;
    queue_.pop_front();
    if (phase_ == Phase::kStreaming) deadline_ = Deadline::After(host_.options().write_seconds);
  }
  HaveWritten();
}

void HttpConnection::HaveWritten() {
  if (phase_ == Phase::kStreaming) {
    deadline_ = Deadline::Never();
    if (finishing_) Close();
    return;
  }
  if (phase_ != Phase::kReplying) return;
  if (keep_alive_) return StartReading();
  if (!linger_) return Close();
  // Closing at once would reset the connection if the client still sends, and the reply would be lost.
  shutdown(socket_.get(), SHUT_WR);
  phase_ = Phase::kDraining;
  deadline_ = Deadline::After(kDrain_s);
}

void HttpConnection::Close() {
  gone_ = true;
  socket_.Close();
  queue_.clear();
}

void HttpConnection::Send(std::shared_ptr<const std::string> bytes) {
  host_.Post([self = shared_from_this(), bytes = std::move(bytes)] { self->Queue(bytes); });
}

void HttpConnection::Finish() {
  host_.Post([self = shared_from_this()] {
    self->finishing_ = true;
    if (self->queue_.empty()) self->Close();
  });
}

}  // namespace hone

#include "dashboard/http_server.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <deque>
#include <optional>

#include "base/interrupt.h"
#include "base/text.h"

namespace hone {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

std::chrono::milliseconds Milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1e3));
}

// What every reply carries. No script or style but our own files, no other host, no framing, no guessing of
// types; the address is told to nobody, because it may hold the token.
constexpr std::pair<const char*, const char*> kHeaders[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
     "form-action "
     "'self'; base-uri 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
};

// A header value with a line end in it would be two headers.
bool IsHeaderValue(const std::string& value) {
  return value.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos;
}

}  // namespace

struct HttpServer::State {
  explicit State(const HttpServerOptions& asked) : options(asked), acceptor(io) {}

  HttpServerOptions options;
  const Handler* handler = nullptr;
  LiveHub* hub = nullptr;
  asio::thread_pool* pool = nullptr;
  std::atomic<size_t> open{0};
  std::atomic<uint64_t> connections{0};
  std::atomic<uint64_t> requests{0};
  std::atomic<uint64_t> refused{0};
  std::atomic<uint64_t> failed{0};
  // Last, because connections that wait in it count themselves out above.
  asio::io_context io{1};
  tcp::acceptor acceptor;
};

namespace {

// One connection. Lives on the socket thread, apart from Send, Finish and gone, which only post and read.
template <class State>
class Connection : public LiveViewer, public std::enable_shared_from_this<Connection<State>> {
 public:
  Connection(tcp::socket&& socket, State& state) : stream_(std::move(socket)), state_(state) {
    ++state_.open;
  }
  ~Connection() override { --state_.open; }

  void Read() {
    parser_.emplace();
    parser_->header_limit(static_cast<uint32_t>(state_.options.most_head_bytes));
    parser_->body_limit(state_.options.most_body_bytes);
    // For the whole request, so that a client that sends a byte now and then does not stay.
    stream_.expires_after(Milliseconds(state_.options.read_seconds));
    http::async_read(stream_, buffer_, *parser_,
                     [self = this->shared_from_this()](error_code code, size_t) { self->HaveRead(code); });
  }

  // There are too many already.
  void TurnAway() {
    keep_alive_ = false;
    stream_.expires_after(Milliseconds(1));
    HttpReply reply;
    reply.status = 503;
    reply.content_type = "text/plain; charset=utf-8";
    reply.body = "too many connections; try again\n";
    Write(std::move(reply), false);
  }

  void Send(std::shared_ptr<const std::string> bytes) override {
    asio::post(stream_.get_executor(),
               [self = this->shared_from_this(), bytes = std::move(bytes)] { self->Queue(bytes); });
  }
  void Finish() override {
    asio::post(stream_.get_executor(), [self = this->shared_from_this()] {
      self->finishing_ = true;
      if (!self->writing_) self->Close();
    });
  }
  bool gone() const override { return gone_; }

 private:
  void HaveRead(error_code code) {
    if (code == http::error::end_of_stream || code == beast::error::timeout) return Close();
    if (code) {
      if (code.category() != http::make_error_code(http::error::bad_method).category()) return Close();
      keep_alive_ = false;
      ++state_.requests;
      HttpReply reply;
      reply.status = code == http::error::body_limit ? 413 : code == http::error::header_limit ? 431 : 400;
      reply.content_type = "text/plain; charset=utf-8";
      reply.body = fmt::format("the request cannot be read: {}\n", code.message());
      return Write(std::move(reply), false);
    }
    ++state_.requests;
    const auto& message = parser_->get();
    keep_alive_ = message.keep_alive();
    const bool head = message.method() == http::verb::head;
    auto request = std::make_shared<HttpRequest>();
    request->method = head ? "GET" : std::string(message.method_string());
    const auto field = [&](http::field name) { return std::string(message[name]); };
    request->host = field(http::field::host);
    request->origin = field(http::field::origin);
    request->cookie = field(http::field::cookie);
    request->authorization = field(http::field::authorization);
    request->if_none_match = field(http::field::if_none_match);
    request->content_type = field(http::field::content_type);
    request->last_event_id = std::string(message["Last-Event-ID"]);
    request->body = message.body();
    if (!ParseTarget(std::string_view(message.target().data(), message.target().size()), request.get()) ||
        message.count(http::field::host) > 1) {
      keep_alive_ = false;
      HttpReply reply;
      reply.status = 400;
      reply.content_type = "text/plain; charset=utf-8";
      reply.body = "the address cannot be read\n";
      return Write(std::move(reply), head);
    }
    stream_.expires_never();
    asio::post(*state_.pool, [self = this->shared_from_this(), request, head] {
      auto reply = std::make_shared<HttpReply>((*self->state_.handler)(*request));
      asio::post(self->stream_.get_executor(), [self, reply, head] {
        if (reply->events && !head)
          self->Stream(*reply->events);
        else
          self->Write(std::move(*reply), head);
      });
    });
  }

  void Count(int status) {
    if (status >= 500)
      ++state_.failed;
    else if (status >= 400)
      ++state_.refused;
  }

  template <class Message>
  static void Dress(Message& message, const HttpReply& reply) {
    message.set(http::field::content_type, reply.content_type);
    for (const auto& [name, value] : kHeaders) message.set(name, value);
    message.set(http::field::cache_control, "no-store");
    // A page's own replaces what every reply carries.
    for (const auto& [name, value] : reply.headers)
      if (IsHeaderValue(value)) message.set(name, value);
  }

  void Write(HttpReply reply, bool head) {
    Count(reply.status);
    reply_.emplace();
    reply_->version(11);
    reply_->result(static_cast<unsigned>(reply.status));
    reply_->reason(StatusText(reply.status));
    Dress(*reply_, reply);
    reply_->keep_alive(keep_alive_);
    reply_->content_length(reply.body.size());
    if (!head) reply_->body() = std::move(reply.body);
    serializer_.emplace(*reply_);
    stream_.expires_after(Milliseconds(state_.options.write_seconds));
    const auto done = [self = this->shared_from_this()](error_code code, size_t) {
      self->serializer_.reset();
      self->reply_.reset();
      if (code || !self->keep_alive_) return self->Close();
      self->Read();
    };
    if (head)
      http::async_write_header(stream_, *serializer_, done);
    else
      http::async_write(stream_, *serializer_, done);
  }

  void Stream(const EventSubscription& events) {
    http::response<http::empty_body> head{http::status::ok, 11};
    HttpReply reply;
    reply.content_type = "text/event-stream; charset=utf-8";
    Dress(head, reply);
    head.keep_alive(false);
    std::string text = fmt::format("HTTP/1.1 200 OK\r\n");
    for (const auto& each : head)
      text +=
          fmt::format("{}: {}\r\n", std::string_view(each.name_string().data(), each.name_string().size()),
                      std::string_view(each.value().data(), each.value().size()));
    text += "\r\n";
    Queue(std::make_shared<const std::string>(std::move(text)));
    // Nothing more is expected of the client; a read notices when it goes.
    stream_.expires_never();
    Listen();
    state_.hub->Watch(events, this->shared_from_this());
  }

  void Listen() {
    stream_.async_read_some(asio::buffer(ignored_),
                            [self = this->shared_from_this()](error_code code, size_t) {
                              if (code) return self->Close();
                              self->Listen();
                            });
  }

  void Queue(const std::shared_ptr<const std::string>& bytes) {
    if (gone_) return;
    queued_bytes_ += bytes->size();
    // It comes back with the number of the last event it saw.
    if (queued_bytes_ > state_.options.most_queued_bytes) return Close();
    queue_.push_back(bytes);
    if (!writing_) WriteQueued();
  }

  void WriteQueued() {
    if (queue_.empty()) {
      writing_ = false;
      if (finishing_) Close();
      return;
    }
    writing_ = true;
    stream_.expires_after(Milliseconds(state_.options.write_seconds));
    asio::async_write(stream_, asio::buffer(*queue_.front()),
                      [self = this->shared_from_this()](error_code code, size_t) {
                        if (code || self->gone_) return self->Close();
                        self->queued_bytes_ -= self->queue_.front()->size();
                        self->queue_.pop_front();
                        self->WriteQueued();
                      });
  }

  void Close() {
    gone_ = true;
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.close();
  }

  beast::tcp_stream stream_;
  State& state_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::response<http::string_body>> reply_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
  bool keep_alive_ = false;
  std::deque<std::shared_ptr<const std::string>> queue_;
  size_t queued_bytes_ = 0;
  bool writing_ = false;
  bool finishing_ = false;
  std::atomic<bool> gone_{false};
  char ignored_[512];
};

template <class State>
void Accept(State& state) {
  state.acceptor.async_accept([&state](error_code code, tcp::socket socket) {
    if (code == asio::error::operation_aborted) return;
    if (code) {
      // Out of descriptors, most likely: some will be free again.
      auto timer = std::make_shared<asio::steady_timer>(state.io, std::chrono::milliseconds(100));
      timer->async_wait([&state, timer](error_code) { Accept(state); });
      return;
    }
    ++state.connections;
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    const bool full = state.open.load() >= state.options.most_connections;
    const auto connection = std::make_shared<Connection<State>>(std::move(socket), state);
    if (full)
      connection->TurnAway();
    else
      connection->Read();
    Accept(state);
  });
}

}  // namespace

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::Listen(const HttpServerOptions& options) {
  auto state = std::make_unique<State>(options);
  error_code code;
  tcp::resolver resolver(state->io);
  const auto found =
      resolver.resolve(options.bind, std::to_string(options.port), tcp::resolver::passive, code);
  if (code || found.empty())
    return Error{ErrorKind::kUsage, fmt::format("--bind {}: there is no such address here", options.bind)};
  const tcp::endpoint endpoint = found.begin()->endpoint();
  state->acceptor.open(endpoint.protocol(), code);
  if (!code) state->acceptor.set_option(asio::socket_base::reuse_address(true), code);
  if (!code) state->acceptor.bind(endpoint, code);
  if (!code) state->acceptor.listen(128, code);
  if (code == asio::error::address_in_use)
    return Error{ErrorKind::kUnavailable,
                 fmt::format("port {} is in use, perhaps by another hone serve; --port 0 takes a free one",
                             options.port)};
  if (code)
    return Error{ErrorKind::kUnavailable,
                 fmt::format("cannot listen on {} port {}: {}", options.bind, options.port, code.message())};
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

int HttpServer::port() const {
  error_code code;
  return state_->acceptor.local_endpoint(code).port();
}

HttpCounts HttpServer::counts() const {
  return {state_->connections, state_->requests, state_->refused, state_->failed};
}

void HttpServer::Run(const Handler& handler, LiveHub& hub) {
  State& state = *state_;
  asio::thread_pool pool(static_cast<size_t>(state.options.handler_threads));
  state.handler = &handler;
  state.hub = &hub;
  state.pool = &pool;
  asio::posix::stream_descriptor interrupt(state.io);
  if (InterruptFd() >= 0) {
    interrupt.assign(dup(InterruptFd()));
    interrupt.async_wait(asio::posix::stream_descriptor::wait_read,
                         [&state](error_code) { state.io.stop(); });
  }
  Accept(state);
  while (!state.io.stopped()) {
    try {
      state.io.run();
    } catch (const std::exception& error) {
      // A handler of ours let something through; the connection it was for is gone, the others go on.
      fmt::print(stderr, "hone: a bug in hone: {}\n", error.what());
    }
  }
  error_code ignored;
  state.acceptor.close(ignored);
  pool.stop();
  pool.join();
}

void HttpServer::Stop() {
  state_->io.stop();
}

}  // namespace hone

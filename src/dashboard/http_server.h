// An HTTP server, independent of the content: one thread for all sockets, a few for handlers. A client can at
// most lose its own connection: heads, bodies, connections and waiting times are limited. A malformed request
// gets status 400 and is closed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "dashboard/http_message.h"
#include "dashboard/live_hub.h"

namespace hone {

struct HttpServerOptions {
  std::string bind = "127.0.0.1";
  int port = 8377;  // 0: any free port
  int handler_threads = 3;
  size_t most_connections = 512;
  size_t most_head_bytes = 16 * 1024;
  size_t most_body_bytes = 64 * 1024;
  size_t most_queued_bytes = 4 * 1024 * 1024;  // bytes of events that a viewer has not received yet
  double read_seconds = 15;                    // for a whole request, and between requests
  double write_seconds = 30;                   // for a whole reply
  // Called on the socket thread when the head of a request is complete. A reply refuses the request before
  // its body is read. Must not throw.
  std::function<std::optional<HttpReply>(const HttpRequest&)> check_head;
  // Makes the reply to a malformed request; plain text if not set.
  std::function<HttpReply(int status, const std::string& sentence)> refusal;
};

struct HttpCounts {
  uint64_t connections = 0;
  uint64_t requests = 0;
  uint64_t refused = 0;  // replies with 4xx
  uint64_t failed = 0;   // replies with 5xx
};

class HttpServer {
 public:
  // Called from several threads at once. Must not throw.
  using Handler = std::function<HttpReply(const HttpRequest&)>;

  static Result<std::unique_ptr<HttpServer>> Listen(const HttpServerOptions& options);
  ~HttpServer();

  int port() const;
  HttpCounts counts() const;
  // Serves until Stop or Ctrl-C.
  void Run(const Handler& handler, LiveHub& hub);
  // Thread-safe.
  void Stop();

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace hone

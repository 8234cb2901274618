// A request and a reply as pages see them: decoded, bounded, and independent of sockets, so that routing and
// access can be tested without a server.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone {

struct HttpRequest {
  std::string method = "GET";
  std::string path = "/";                                  // percent-decoded; begins with '/'
  std::vector<std::pair<std::string, std::string>> query;  // decoded, in order
  std::string host;                                        // the Host header
  std::string origin;
  std::string cookie;
  std::string authorization;
  std::string last_event_id;
  std::string if_none_match;
  std::string content_type;
  std::string body;

  // The first value with this name, or empty.
  std::string Query(std::string_view name) const;
  bool HasQuery(std::string_view name) const;
};

// A reply that streams the events of a run until it ends, instead of a body.
struct EventSubscription {
  int64_t run_id = 0;
  int64_t after_console_id = 0;
};

struct HttpReply;
// Takes a callback and calls it once, from any thread, with the reply. If it never calls back, the client
// waits.
using LaterReply = std::function<void(std::function<void(HttpReply)>)>;

struct HttpReply {
  int status = 200;
  std::string content_type = "text/html; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  std::optional<EventSubscription> events;
  LaterReply later;  // if set, it delivers the actual reply later without blocking a thread
};

// No value if an escape is invalid or encodes NUL.
std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space);
// Encodes everything but letters, digits and -._~ as %XX.
std::string PercentEncode(std::string_view text);
// Parses "a=1&b=2", as in a query or a posted form. No value if a part is malformed.
std::optional<std::vector<std::pair<std::string, std::string>>> ParseForm(std::string_view text);
std::string FormText(const std::vector<std::pair<std::string, std::string>>& fields);
// Sets path and query from the request line's target. Returns false for an unsupported target.
bool ParseTarget(std::string_view target, HttpRequest* request);
const char* StatusText(int status);

}  // namespace hone

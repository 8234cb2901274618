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

  // The first value of that name, or empty.
  std::string Query(std::string_view name) const;
  bool HasQuery(std::string_view name) const;
};

// Instead of a body: the events of a run until it ends.
struct EventSubscription {
  int64_t run_id = 0;
  int64_t after_console_id = 0;
};

struct HttpReply;
// Takes a function and calls it once, from any thread, with the reply; or never, and then the client waits.
using LaterReply = std::function<void(std::function<void(HttpReply)>)>;

struct HttpReply {
  int status = 200;
  std::string content_type = "text/html; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  std::optional<EventSubscription> events;
  LaterReply later;  // if set: the reply that counts comes later, and no thread waits for it
};

// Nothing when the escapes are broken or hide a NUL.
std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space);
// Everything but letters, digits and -._~ becomes %XX.
std::string PercentEncode(std::string_view text);
// "a=1&b=2", as a query or a posted form; nothing when a part is not well-formed.
std::optional<std::vector<std::pair<std::string, std::string>>> ParseForm(std::string_view text);
std::string FormText(const std::vector<std::pair<std::string, std::string>>& fields);
// Fills path and query from the request line's target; false: not one we serve.
bool ParseTarget(std::string_view target, HttpRequest* request);
const char* StatusText(int status);

}  // namespace hone

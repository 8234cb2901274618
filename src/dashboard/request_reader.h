// Parses the bytes of a connection into requests with Boost.Beast. Only request_reader.cpp includes Beast,
// because its headers take most of a second to read and its asynchronous part took half a minute to compile.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "dashboard/http_message.h"

namespace hone {

class RequestReader {
 public:
  RequestReader(size_t most_head_bytes, size_t most_body_bytes);
  ~RequestReader();
  RequestReader(RequestReader&&) noexcept;

  enum class State { kNeedsMore, kComplete, kBad };
  // Consumes the bytes of the current request. Bytes after it are kept for the next request.
  State Feed(std::string_view bytes);

  // Whether the head of the current request is complete. If so, returns the request without its body.
  bool head_is_whole() const;
  HttpRequest request_head() const;
  // Valid after kComplete.
  HttpRequest request();
  bool head() const;  // true for HEAD; the request then says GET
  bool keep_alive() const;
  // Valid after kBad: the status of the refusal (400, 413 or 431) and its sentence.
  int refusal() const { return refusal_; }
  const std::string& why() const { return why_; }

  // Starts the next request of the same connection with the remaining bytes.
  State Next();

 private:
  struct Parser;
  State Parse();
  State Refuse(int status, std::string why);

  size_t most_head_bytes_;
  size_t most_body_bytes_;
  std::unique_ptr<Parser> parser_;
  std::string bytes_;  // not parsed yet
  int refusal_ = 0;
  std::string why_;
};

}  // namespace hone

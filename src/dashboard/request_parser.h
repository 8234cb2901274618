// Reads HTTP/1.1 requests out of bytes as they come, whatever pieces they come in, over Boost.Beast's parser.
// Heads and bodies are bounded. Bytes that follow a request are kept for the next one.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "dashboard/http_message.h"

namespace hone {

class RequestParser {
 public:
  enum class State { kMore, kDone, kRefused };

  RequestParser(size_t most_head_bytes, size_t most_body_bytes);
  ~RequestParser();

  State Feed(std::string_view bytes);
  // The client sends no more. kMore: it ended between two requests.
  State End();
  // Begins the next request with what followed the last one.
  State Next();

  // When done. HEAD is read as GET, and head_only says so.
  HttpRequest TakeRequest();
  bool head_only() const;
  bool keep_alive() const;

  // When refused: the status to answer with, and a sentence.
  int refusal_status() const;
  const std::string& refusal() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hone

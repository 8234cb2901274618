// Parses one HTTP/1.1 response from bytes as they arrive, in pieces of any size, with Boost.Beast's parser:
// lengths, chunks, and bodies that end with the connection. Skips interim responses (1xx).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace hone {

class AnswerParser {
 public:
  enum class State {
    kMore,     // the response continues
    kDone,     // the response is complete
    kStopped,  // the sink needs no more
    kCutOff,   // the connection ended in the middle
    kNotHttp,
  };
  // Called with every piece of the body, after status and headers are known. Returning false ends the
  // parsing.
  using Sink = std::function<bool(const AnswerParser& answer, std::string_view piece)>;

  // `head_only`: the response has no body, whatever its head says (a proxy's response to CONNECT).
  explicit AnswerParser(Sink sink, bool head_only = false);
  ~AnswerParser();
  AnswerParser(const AnswerParser&) = delete;
  AnswerParser& operator=(const AnswerParser&) = delete;

  State Feed(std::string_view bytes);
  // The connection has ended.
  State End();

  int status() const;                                         // 0: the head is not complete yet
  const std::map<std::string, std::string>& headers() const;  // names in lower case
  const std::string& trouble() const;                         // why it is not HTTP

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hone

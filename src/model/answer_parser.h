// Reads one HTTP/1.1 answer out of bytes as they come, whatever pieces they come in, over Boost.Beast's
// parser: lengths, chunks, and bodies that end with the connection. Interim answers (1xx) are passed over.
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
    kMore,     // the answer goes on
    kDone,     // the answer is whole
    kStopped,  // the sink had enough
    kCutOff,   // the connection ended in the middle
    kNotHttp,
  };
  // Called with every piece of the body, when status and headers are known; false ends the reading.
  using Sink = std::function<bool(const AnswerParser& answer, std::string_view piece)>;

  // `head_only`: the answer has no body, whatever its head says (a proxy's answer to CONNECT).
  explicit AnswerParser(Sink sink, bool head_only = false);
  ~AnswerParser();
  AnswerParser(const AnswerParser&) = delete;
  AnswerParser& operator=(const AnswerParser&) = delete;

  State Feed(std::string_view bytes);
  // The connection has ended.
  State End();

  int status() const;                                         // 0: the head is not whole yet
  const std::map<std::string, std::string>& headers() const;  // names in lower case
  const std::string& trouble() const;                         // why it is not HTTP

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hone

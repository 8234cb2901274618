// Server-sent events: bytes in pieces of any size to whole events. A line may be cut anywhere, also inside a
// character; text is made valid UTF-8 only once a line is whole.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace hone {

struct SseEvent {
  std::string name;  // of the "event:" line, or empty
  std::string data;  // "data:" lines joined by line feeds, valid UTF-8
};

class SseReader {
 public:
  using Handler = std::function<bool(const SseEvent&)>;
  // The handler says false to stop; Add then returns false.
  bool Add(std::string_view bytes, const Handler& handler);
  // The stream has ended: an event without its closing blank line still counts.
  bool Finish(const Handler& handler);
  size_t pending_bytes() const { return line_.size() + event_.data.size(); }

 private:
  bool EndLine(const Handler& handler);

  std::string line_;
  bool after_cr_ = false;
  bool has_data_ = false;
  SseEvent event_;
};

}  // namespace hone

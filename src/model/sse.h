// Server-sent events: converts bytes in pieces of any size to whole events. A line may be split anywhere,
// even inside a character, so text becomes valid UTF-8 only when a line is complete.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace hone {

struct SseEvent {
  std::string name;  // from the "event:" line, or empty
  std::string data;  // "data:" lines joined by line feeds, valid UTF-8
};

class SseReader {
 public:
  using Handler = std::function<bool(const SseEvent&)>;
  // The handler returns false to stop; Add then returns false.
  bool Add(std::string_view bytes, const Handler& handler);
  // Call at the end of the stream: an event without its closing blank line still counts.
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

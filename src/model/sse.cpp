#include "model/sse.h"

#include <utility>

#include "base/text.h"

namespace hone {

bool SseReader::EndLine(const Handler& handler) {
  const std::string line = std::exchange(line_, "");
  if (line.empty()) {
    const SseEvent event = std::exchange(event_, {});
    return !std::exchange(has_data_, false) || handler(event);
  }
  const size_t colon = line.find(':');
  const std::string_view field = std::string_view(line).substr(0, colon);
  std::string_view value = colon == std::string::npos ? "" : std::string_view(line).substr(colon + 1);
  if (StartsWith(value, " ")) value.remove_prefix(1);
  if (field == "event") {
    event_.name = ValidUtf8(value);
  } else if (field == "data") {
    if (has_data_) event_.data += '\n';
    event_.data += ValidUtf8(value);
    has_data_ = true;
  }
  return true;
}

bool SseReader::Add(std::string_view bytes, const Handler& handler) {
  for (const char c : bytes) {
    const bool second_half = std::exchange(after_cr_, c == '\r') && c == '\n';
    if (second_half) continue;
    if (c == '\n' || c == '\r') {
      if (!EndLine(handler)) return false;
    } else {
      line_ += c;
    }
  }
  return true;
}

bool SseReader::Finish(const Handler& handler) {
  if (!line_.empty() && !EndLine(handler)) return false;
  return EndLine(handler);
}

}  // namespace hone

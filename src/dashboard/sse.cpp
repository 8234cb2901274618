#include "dashboard/sse.h"

#include <fmt/format.h>

namespace hone {

std::string SseEvent(std::string_view name, std::string_view data, int64_t id) {
  std::string text;
  if (id >= 0) text += fmt::format("id: {}\n", id);
  text += fmt::format("event: {}\ndata: ", name);
  for (size_t i = 0; i < data.size(); ++i) {
    // CR, LF and CRLF all end a line of the stream.
    if (data[i] == '\r' && i + 1 < data.size() && data[i + 1] == '\n') continue;
    if (data[i] == '\r' || data[i] == '\n')
      text += "\ndata: ";
    else
      text += data[i];
  }
  return text + "\n\n";
}

std::string SseBeat() {
  return ": beat\n\n";
}

}  // namespace hone

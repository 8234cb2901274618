#include "model/chat_api.h"

#include "base/text.h"

namespace hone {

std::string ContentText(const Json& content) {
  if (content.is_string()) return content.get<std::string>();
  std::string text;
  if (content.is_array()) {
    for (const Json& part : content)
      text += part.is_string() ? part.get<std::string>() : GetString(part, "text");
  }
  return text;
}

std::string ErrorText(const Json& document) {
  const Json& error = GetMember(document, "error");
  if (error.is_string()) return error.get<std::string>();
  const Json& source = error.is_object() ? error : document;
  std::string message = GetString(source, "message");
  if (message.empty() && !error.is_object()) message = GetString(source, "detail");
  if (message.empty() && error.is_object()) message = DumpJson(error);
  if (message.empty()) return "";
  for (const char* key : {"code", "type"}) {
    const std::string kind = GetString(source, key);
    if (!kind.empty() && kind != "error") return kind + ": " + message;
  }
  return message;
}

void SplitThinking(ChatTurn& turn) {
  constexpr std::string_view kOpen = "<think>";
  constexpr std::string_view kClose = "</think>";
  const size_t begin = turn.text.find_first_not_of(" \t\r\n");
  const bool opened =
      begin != std::string::npos && StartsWith(std::string_view(turn.text).substr(begin), kOpen);
  const size_t close = turn.text.find(kClose);
  if (!opened && (close == std::string::npos || !turn.thinking.empty())) return;
  const size_t from = opened ? begin + kOpen.size() : 0;
  turn.thinking +=
      Trim(std::string_view(turn.text).substr(from, close == std::string::npos ? close : close - from));
  turn.text = close == std::string::npos ? "" : std::string(Trim(turn.text.substr(close + kClose.size())));
}

}  // namespace hone

#include "model/chat_api.h"

#include <charconv>

#include "base/json.h"
#include "base/text.h"

namespace hone {

namespace {

// The code of the escape \uXXXX at this place, or -1.
int EscapedUnit(std::string_view text, size_t at) {
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return -1;
  int unit = 0;
  const auto [end, code] = std::from_chars(text.data() + at + 2, text.data() + at + 6, unit, 16);
  return code == std::errc() && end == text.data() + at + 6 ? unit : -1;
}

bool IsHigh(int unit) {
  return unit >= 0xd800 && unit < 0xdc00;
}
bool IsLow(int unit) {
  return unit >= 0xdc00 && unit < 0xe000;
}

std::string WithoutLoneSurrogates(std::string text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') continue;
    const int unit = EscapedUnit(text, i);
    if (IsHigh(unit) && IsLow(EscapedUnit(text, i + 6))) {
      i += 11;
    } else if (IsHigh(unit) || IsLow(unit)) {
      text.replace(i, 6, "\\ufffd");
      i += 5;
    } else {
      ++i;  // what is escaped is no beginning of an escape
    }
  }
  return text;
}

}  // namespace

Result<Json> ParseServerJson(std::string_view text) {
  std::string valid = ValidUtf8(text);
  Result<Json> parsed = ParseJson(valid);
  return parsed.ok() ? std::move(parsed) : ParseJson(WithoutLoneSurrogates(std::move(valid)));
}

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

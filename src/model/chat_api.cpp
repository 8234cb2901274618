#include "model/chat_api.h"

#include <charconv>

#include "base/json.h"
#include "base/text.h"

namespace hone {

namespace {

// The code of the escape \uXXXX at this position, or -1.
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
      ++i;  // an escaped character does not begin an escape
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

std::vector<ChatChoice*> ChatTurn::choices() {
  std::vector<ChatChoice*> all = {this};
  for (ChatChoice& one : more) all.push_back(&one);
  return all;
}

std::vector<const ChatChoice*> ChatTurn::choices() const {
  std::vector<const ChatChoice*> all = {this};
  for (const ChatChoice& one : more) all.push_back(&one);
  return all;
}

void SplitThinking(ChatChoice& reply) {
  constexpr std::string_view kOpen = "<think>";
  constexpr std::string_view kClose = "</think>";
  const size_t begin = reply.text.find_first_not_of(" \t\r\n");
  const bool opened =
      begin != std::string::npos && StartsWith(std::string_view(reply.text).substr(begin), kOpen);
  const size_t close = reply.text.find(kClose);
  if (!opened && (close == std::string::npos || !reply.thinking.empty())) return;
  const size_t from = opened ? begin + kOpen.size() : 0;
  reply.thinking +=
      Trim(std::string_view(reply.text).substr(from, close == std::string::npos ? close : close - from));
  reply.text = close == std::string::npos ? "" : std::string(Trim(reply.text.substr(close + kClose.size())));
}

}  // namespace hone

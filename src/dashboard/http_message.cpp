#include "dashboard/http_message.h"

#include <fmt/format.h>

#include <cctype>

#include "base/text.h"

namespace hone {

namespace {

constexpr size_t kMostFields = 64;

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const int lower = std::tolower(static_cast<unsigned char>(c));
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace

std::string HttpRequest::Query(std::string_view name) const {
  for (const auto& [key, value] : query)
    if (key == name) return value;
  return "";
}

bool HttpRequest::HasQuery(std::string_view name) const {
  for (const auto& [key, value] : query)
    if (key == name) return true;
  return false;
}

std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = HexDigit(text[i + 1]);
      const int low = HexDigit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    } else if (c == '+' && plus_is_space) {
      c = ' ';
    }
    if (c == '\0') return std::nullopt;
    out += c;
  }
  return out;
}

std::string PercentEncode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '.' || c == '_' || c == '~')
      out += c;
    else
      out += fmt::format("%{:02X}", byte);
  }
  return out;
}

std::optional<std::vector<std::pair<std::string, std::string>>> ParseForm(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> fields;
  for (const std::string& part : Split(text, '&')) {
    if (part.empty()) continue;
    if (fields.size() == kMostFields) return std::nullopt;
    const size_t equals = part.find('=');
    std::optional<std::string> name = PercentDecode(std::string_view(part).substr(0, equals), true);
    std::optional<std::string> value = equals == std::string::npos
                                           ? std::string()
                                           : PercentDecode(std::string_view(part).substr(equals + 1), true);
    if (!name || !value) return std::nullopt;
    fields.emplace_back(std::move(*name), std::move(*value));
  }
  return fields;
}

std::string FormText(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::string text;
  for (const auto& [name, value] : fields)
    text += fmt::format("{}{}={}", text.empty() ? "" : "&", PercentEncode(name), PercentEncode(value));
  return text;
}

bool ParseTarget(std::string_view target, HttpRequest* request) {
  if (target.empty() || target[0] != '/') return false;
  const size_t question = target.find('?');
  std::optional<std::string> path = PercentDecode(target.substr(0, question), false);
  if (!path) return false;
  request->path = std::move(*path);
  request->query.clear();
  if (question == std::string_view::npos) return true;
  auto fields = ParseForm(target.substr(question + 1));
  if (!fields) return false;
  request->query = std::move(*fields);
  return true;
}

const char* StatusText(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 202:
      return "Accepted";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 413:
      return "Payload Too Large";
    case 415:
      return "Unsupported Media Type";
    case 421:
      return "Misdirected Request";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    default:
      return "Internal Server Error";
  }
}

}  // namespace hone

#include "report/escape.h"

#include <fmt/format.h>

#include "base/text.h"

namespace hone {

namespace {

// The code point at text[at] of valid UTF-8, and its length.
uint32_t CodePoint(std::string_view text, size_t at, size_t* length) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned char lead = byte(0);
  *length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  uint32_t code = *length == 1 ? lead : lead & (0xFFu >> (*length + 1));
  for (size_t i = 1; i < *length; ++i) code = (code << 6) | (byte(i) & 0x3Fu);
  return code;
}

// U+202A..E and U+2066..9 change the direction of the following text, so that source reads differently from
// how it runs.
bool TurnsDirection(uint32_t code) {
  return (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0x200E ||
         code == 0x200F || code == 0x061C;
}

// Symbols for control characters begin at U+2400.
std::string Picture(uint32_t code) {
  const uint32_t picture = code == 0x7F ? 0x2421 : 0x2400 + code;
  return {static_cast<char>(0xE2), static_cast<char>(0x80 | (picture >> 6 & 0x3F)),
          static_cast<char>(0x80 | (picture & 0x3F))};
}

// Calls `plain` for every harmless character, and replaces all others.
template <class Plain>
std::string Visible(std::string_view text, const Plain& plain) {
  const std::string valid = ValidUtf8(text);
  std::string out;
  out.reserve(valid.size() + valid.size() / 8);
  for (size_t at = 0, length = 0; at < valid.size(); at += length) {
    const uint32_t code = CodePoint(valid, at, &length);
    if ((code < 0x20 && code != '\n' && code != '\t') || code == 0x7F)
      out += Picture(code);
    else if ((code >= 0x80 && code < 0xA0) || code == 0xFFFE || code == 0xFFFF)
      out += "\xEF\xBF\xBD";
    else if (TurnsDirection(code))
      out += fmt::format("[U+{:04X}]", code);
    else
      plain(std::string_view(valid).substr(at, length), &out);
  }
  return out;
}

}  // namespace

std::string EscapeHtml(std::string_view text) {
  return Visible(text, [](std::string_view c, std::string* out) {
    switch (c[0]) {
      case '&':
        *out += "&amp;";
        break;
      case '<':
        *out += "&lt;";
        break;
      case '>':
        *out += "&gt;";
        break;
      case '"':
        *out += "&quot;";
        break;
      case '\'':
        *out += "&#39;";
        break;
      default:
        *out += c;
    }
  });
}

std::string EscapeMarkdown(std::string_view text) {
  return Visible(text, [](std::string_view c, std::string* out) {
    switch (c[0]) {
      case '\n':
      case '\t':
        *out += ' ';
        break;
      case '<':
        *out += "&lt;";
        break;
      case '>':
        *out += "&gt;";
        break;
      case '&':
        *out += "&amp;";
        break;
      case '|':
      case '\\':
      case '`':
      case '*':
      case '_':
      case '[':
      case ']':
      case '!':
        *out += '\\';
        [[fallthrough]];
      default:
        *out += c;
    }
  });
}

std::string EscapeCsv(std::string_view text) {
  std::string field = ValidUtf8(text);
  // Spreadsheets treat these as the start of a formula, also after white space.
  const std::string_view trimmed = Trim(field);
  if (!trimmed.empty() && std::string_view("=+-@").find(trimmed[0]) != std::string_view::npos)
    field.insert(field.begin(), '\'');
  if (field.find_first_of("\",\r\n\t'") == std::string::npos) return field;
  return '"' + ReplaceAll(std::move(field), "\"", "\"\"") + '"';
}

std::string AnchorOf(std::string_view prefix, std::string_view text) {
  std::string anchor(prefix);
  for (const char c : text) {
    const bool stays = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (stays)
      anchor += c;
    else
      anchor += fmt::format("-{:02x}", static_cast<unsigned char>(c));
  }
  return anchor;
}

}  // namespace hone

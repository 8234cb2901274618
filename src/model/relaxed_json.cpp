#include "model/relaxed_json.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/text.h"

namespace hone {

namespace {

constexpr size_t kMostJsonBytes = 1u << 20;
constexpr size_t kMostObjects = 64;
constexpr int kMostNesting = 32;
// Limit of characters read in all attempts together.
constexpr size_t kMostWork = 4u << 20;

void AppendUtf8(uint32_t code, std::string* out) {
  if (code < 0x80) {
    *out += static_cast<char>(code);
  } else if (code < 0x800) {
    *out += static_cast<char>(0xC0 | (code >> 6));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    *out += static_cast<char>(0xE0 | (code >> 12));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

bool IsWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' || c == '+';
}

class Reader {
 public:
  Reader(std::string_view text, size_t at) : text_(text), at_(at) {}

  std::optional<Json> Value(int depth) {
    Skip();
    if (at_ >= text_.size() || depth > kMostNesting) return std::nullopt;
    const char c = text_[at_];
    if (c == '{') return Object(depth);
    if (c == '[' || c == '(') return List(depth);
    if (c == '"' || c == '\'') return String();
    return Word();
  }
  size_t at() const { return at_; }

 private:
  void Skip() {
    while (at_ < text_.size()) {
      const std::string_view rest = text_.substr(at_);
      if (std::isspace(static_cast<unsigned char>(rest[0])) != 0) {
        ++at_;
      } else if (rest[0] == '#' || StartsWith(rest, "//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (StartsWith(rest, "/*")) {
        const size_t end = text_.find("*/", at_);
        at_ = end == std::string_view::npos ? text_.size() : end + 2;
      } else {
        return;
      }
    }
  }

  bool Take(char c) {
    Skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::optional<Json> Object(int depth) {
    Json out = Json::object();
    ++at_;
    while (!Take('}')) {
      std::optional<Json> key = Value(depth + 1);
      if (!key || !(key->is_string() || key->is_number()) || !(Take(':') || Take('='))) return std::nullopt;
      std::optional<Json> value = Value(depth + 1);
      if (!value) return std::nullopt;
      out[key->is_string() ? key->get<std::string>() : DumpJson(*key)] = std::move(*value);
      // A missing comma between lines is tolerated.
      while (Take(',') || Take(';')) {
      }
      if (at_ >= text_.size()) return std::nullopt;
    }
    return out;
  }

  std::optional<Json> List(int depth) {
    const char close = text_[at_] == '[' ? ']' : ')';
    Json out = Json::array();
    ++at_;
    while (!Take(close)) {
      std::optional<Json> value = Value(depth + 1);
      if (!value) return std::nullopt;
      out.push_back(std::move(*value));
      while (Take(',')) {
      }
      if (at_ >= text_.size()) return std::nullopt;
    }
    return out;
  }

  std::optional<Json> String() {
    std::string out;
    do {
      if (!Quoted(&out)) return std::nullopt;
      Skip();
    } while (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'') && Adjacent());
    return Json(out);
  }

  // In Python two adjacent strings are one. `"a" "b": 1` after a missing comma is a value and a key.
  bool Adjacent() const {
    Reader ahead = *this;
    std::string ignored;
    if (!ahead.Quoted(&ignored)) return false;
    ahead.Skip();
    return ahead.at_ >= text_.size() || text_[ahead.at_] != ':';
  }

  bool Quoted(std::string* out) {
    const char quote = text_[at_];
    const std::string triple(3, quote);
    const bool is_triple = StartsWith(text_.substr(at_), triple);
    at_ += is_triple ? 3 : 1;
    while (at_ < text_.size()) {
      if (is_triple ? StartsWith(text_.substr(at_), triple) : text_[at_] == quote) {
        at_ += is_triple ? 3 : 1;
        return true;
      }
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
        Escape(out);
      } else {
        *out += text_[at_++];
      }
    }
    return false;
  }

  void Escape(std::string* out) {
    const char c = text_[at_++];
    switch (c) {
      case 'n':
        *out += '\n';
        return;
      case 't':
        *out += '\t';
        return;
      case 'r':
        return;
      case '\n':  // Python joins the lines
        return;
      case 'u': {
        const std::string digits(text_.substr(at_, 4));
        if (digits.size() == 4 && digits.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos) {
          AppendUtf8(static_cast<uint32_t>(std::stoul(digits, nullptr, 16)), out);
          at_ += 4;
          return;
        }
        break;
      }
      default:
        break;
    }
    *out += c;
  }

  std::optional<Json> Word() {
    const size_t start = at_;
    while (at_ < text_.size() && IsWord(text_[at_])) ++at_;
    const std::string word(text_.substr(start, at_ - start));
    if (word.empty()) return std::nullopt;
    if (at_ < text_.size() && text_[at_] == '%') return Json(word + text_[at_++]);
    const std::string lower = ToLower(word);
    if (lower == "true") return Json(true);
    if (lower == "false") return Json(false);
    if (lower == "null" || lower == "none" || lower == "nan") return Json();
    char* end = nullptr;
    const double number = std::strtod(word.c_str(), &end);
    if (end == word.c_str() + word.size() && std::isfinite(number)) {
      if (word.find_first_not_of("0123456789") == std::string::npos && word.size() < 18)
        return Json(static_cast<int64_t>(number));
      return Json(number);
    }
    return Json(word);
  }

  std::string_view text_;
  size_t at_;
};

}  // namespace

std::vector<Json> FindObjects(std::string_view text) {
  const std::string valid = ValidUtf8(text.substr(0, kMostJsonBytes));
  std::vector<Json> out;
  size_t work = 0;
  for (size_t at = valid.find('{'); at != std::string::npos && out.size() < kMostObjects && work < kMostWork;
       at = valid.find('{', at + 1)) {
    Reader reader(valid, at);
    std::optional<Json> object = reader.Value(0);
    work += reader.at() - at + 1;
    if (object) out.push_back(std::move(*object));
  }
  return out;
}

}  // namespace hone

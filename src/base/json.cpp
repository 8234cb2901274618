#include "base/json.h"

#include <cmath>

namespace hone {

namespace {

// Deep nesting is never ours, and copying or printing it would recurse as deep.
constexpr int kMaxNesting = 200;

bool TooDeep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxNesting) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace

Result<Json> ParseJson(std::string_view text) {
  if (TooDeep(text)) return Error{ErrorKind::kInvalid, "JSON nested too deeply"};
  Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return Error{ErrorKind::kInvalid, "not valid JSON"};
  return value;
}

std::string DumpJson(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string DumpJson(const OrderedJson& value, int indent) {
  return value.dump(indent, ' ', false, OrderedJson::error_handler_t::replace);
}

const Json& GetMember(const Json& object, const char* key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto it = object.find(key);
  return it == object.end() ? kNull : *it;
}

std::string GetString(const Json& object, const char* key, const std::string& fallback) {
  const Json& member = GetMember(object, key);
  return member.is_string() ? member.get<std::string>() : fallback;
}

double GetNumber(const Json& object, const char* key, double fallback) {
  const Json& member = GetMember(object, key);
  return member.is_number() ? member.get<double>() : fallback;
}

int64_t GetInt(const Json& object, const char* key, int64_t fallback) {
  const Json& member = GetMember(object, key);
  if (member.is_number_integer()) return member.get<int64_t>();
  if (member.is_number_float()) {
    const double value = member.get<double>();
    if (std::isfinite(value) && std::abs(value) < 9e18) return static_cast<int64_t>(value);
  }
  return fallback;
}

bool GetBool(const Json& object, const char* key, bool fallback) {
  const Json& member = GetMember(object, key);
  return member.is_boolean() ? member.get<bool>() : fallback;
}

}  // namespace hone

// JSON through nlohmann-json, with parsing that returns a Result instead of throwing and readers that
// accept what strangers send (a missing or mistyped field yields the fallback, never an exception).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hone {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

Result<Json> ParseJson(std::string_view text);
// One line; bytes that are not UTF-8 are replaced, so that no text a candidate wrote can make it throw.
std::string DumpJson(const Json& value, int indent = -1);
std::string DumpJson(const OrderedJson& value, int indent = -1);

std::string GetString(const Json& object, const char* key, const std::string& fallback = "");
double GetNumber(const Json& object, const char* key, double fallback = 0);
int64_t GetInt(const Json& object, const char* key, int64_t fallback = 0);
bool GetBool(const Json& object, const char* key, bool fallback = false);
// The member as it is, or null.
const Json& GetMember(const Json& object, const char* key);

}  // namespace hone

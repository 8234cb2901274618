#include "model/retry.h"

#include <time.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/ids.h"
#include "base/text.h"

namespace hone {

namespace {

bool SaysAny(const std::string& text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return Contains(text, part); });
}

double RandomUnit() {
  return static_cast<double>(RandomU64() >> 11) * 0x1p-53;
}

// For "max_tokens: 32000 > 8192, which is the maximum allowed" returns the last number smaller than the one
// sent.
int64_t SmallerLimit(const std::string& words, int64_t sent) {
  int64_t found = 0;
  for (size_t i = 0; i < words.size();) {
    int64_t number = 0;
    const auto [end, code] = std::from_chars(words.data() + i, words.data() + words.size(), number);
    if (code != std::errc()) {
      ++i;
      continue;
    }
    if (number >= 256 && (sent == 0 || number < sent)) found = number;
    i = static_cast<size_t>(end - words.data());
  }
  return found;
}

}  // namespace

double WaitSeconds(const RetryPolicy& policy, int attempt, std::optional<double> retry_after) {
  if (retry_after) {
    const double wait = std::clamp(*retry_after, 0.0, policy.retry_after_cap);
    return wait + RandomUnit() * std::min(policy.backoff_seconds, 0.1 * wait);
  }
  const double full = policy.backoff_seconds * std::exp2(std::clamp(attempt - 1, 0, 30));
  return std::min(full, policy.backoff_cap) * (0.5 + 0.5 * RandomUnit());
}

std::optional<double> RetryAfterSeconds(const std::string& value, int64_t now) {
  const std::string text(Trim(value));
  if (text.empty()) return std::nullopt;
  double seconds = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (code == std::errc() && end == text.data() + text.size() && std::isfinite(seconds))
    return std::max(0.0, seconds);
  tm date{};
  const char* rest = strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date);
  if (rest == nullptr || *rest != '\0') return std::nullopt;
  return std::max(0.0, static_cast<double>(timegm(&date) - now));
}

ServerError ClassifyServerError(int status, const std::string& words) {
  const std::string low = ToLower(words);
  if (status != 401 && status != 403 && status != 429 &&
      SaysAny(low, {"context_length_exceeded", "maximum context length", "model's context length",
                    "context window", "context size", "context limit", "prompt is too long",
                    "input is too long", "prompt too long", "exceeds the maximum number of tokens"}))
    return {ModelFailure::kContextTooLong, false};
  if (status == 401 || status == 403 ||
      SaysAny(low, {"authentication_error", "invalid_api_key", "permission_error"}))
    return {ModelFailure::kWrongKey, false};
  if (SaysAny(low, {"insufficient_quota", "exceeded your current quota", "credit balance",
                    "insufficient balance"}))
    return {ModelFailure::kRefused, false};
  if (status == 200)
    return {ModelFailure::kUnreachable, !SaysAny(low, {"invalid_request_error", "not_found_error"})};
  if (status == 408 || status == 409 || status == 425 || status == 429 ||
      (status >= 500 && status != 501 && status != 505))
    return {ModelFailure::kUnreachable, true};
  return {ModelFailure::kRefused, false};
}

namespace {

// Drops the way of requesting data that the server rejects: the one that it names, or else the one that was
// used. OpenAI's form tries a schema first, Anthropic's a tool. If both remain, the server's message tells
// which one was sent.
bool GiveUpStructure(const std::string& low, ChatDialect& dialect) {
  if (!dialect.structured()) return false;
  const bool names_schema = SaysAny(low, {"response_format", "json_schema", "output_config", "structured"});
  const bool names_tool = SaysAny(low, {"tool", "function"});
  if (names_schema && dialect.schema)
    dialect.schema = false;
  else if (names_tool && dialect.tools)
    dialect.tools = false;
  else
    dialect.schema = dialect.tools = false;
  return true;
}

// "'n' : number must be at most 1", "Only one completion choice is allowed", "n must be 1 when using greedy
// sampling".
bool NamesReplies(const std::string& low) {
  return StartsWith(low, "n ") || StartsWith(low, "n:") ||
         SaysAny(low, {"'n'", "\"n\"", "`n`", "completion choice", "multiple choices", "number of choices",
                       "multiple completions", "candidate_count", "candidatecount", " n must", "n > 1",
                       "n = 1", "n=1", "parameter n ", "parameter: n"});
}

}  // namespace

bool AdaptDialect(int status, const std::string& words, bool structured, ChatDialect& dialect, bool several) {
  const std::string low = ToLower(words);
  several = several && dialect.several;
  // llama.cpp has returned 500 for this.
  if (several && (status == 400 || status == 422 || status == 500 || status == 501) && NamesReplies(low)) {
    dialect.several = false;
    return true;
  }
  // A router returns 404 if none of its servers supports tools, and a server without them may return 501.
  if (structured && (status == 404 || status == 501) && SaysAny(low, {"response_format", "tool", "schema"}))
    return GiveUpStructure(low, dialect);
  if (status != 400 && status != 422) return false;
  if (ClassifyServerError(status, words).failure != ModelFailure::kRefused) return false;
  if (dialect.stream && dialect.stream_options && Contains(low, "stream_options")) {
    dialect.stream_options = false;
    return true;
  }
  if (dialect.cache_control && Contains(low, "cache_control")) {
    dialect.cache_control = false;
    return true;
  }
  if (dialect.temperature && Contains(low, "temperature")) {
    dialect.temperature = false;
    return true;
  }
  if (Contains(low, "max_tokens") || Contains(low, "max_completion_tokens")) {
    const bool about_the_name = SaysAny(low, {"unsupported", "not supported", "unrecognized", "extra",
                                              "unknown", "not permitted", "unexpected"});
    if (about_the_name && dialect.max_tokens > 0 && !dialect.max_tokens_renamed) {
      dialect.max_completion_tokens = !dialect.max_completion_tokens;
      dialect.max_tokens_renamed = true;
      return true;
    }
    const int64_t limit =
        SmallerLimit(words, dialect.max_tokens > 0 ? dialect.max_tokens : kAnthropicMaxTokens);
    if (!about_the_name && limit > 0) {
      dialect.max_tokens = limit;
      return true;
    }
    return false;
  }
  if (dialect.stream && Contains(low, "stream")) {
    dialect.stream = false;
    return true;
  }
  // Not every server names the unsupported field.
  if (several) {
    dialect.several = false;
    return true;
  }
  return structured && GiveUpStructure(low, dialect);
}

}  // namespace hone

// The secrets that clients present, and the rate limit of each. Tokens are compared by their hashes, in a
// time that does not depend on how much of a token is right.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"

namespace hone {

struct Token {
  std::string name;  // appears in lists and metrics
  std::string secret;
};

struct TokenSet {
  std::vector<Token> tokens;  // at least one
  bool generated = false;     // made by this process, to be printed once
};

// A line is "TOKEN" or "NAME TOKEN". Empty lines and lines with # are skipped. Only the owner may have access
// to the file.
Result<std::vector<Token>> ReadTokenFile(const fs::path& path);
// Reads the file if there is one, else `variable` (the value of $HONE_JUDGE_TOKEN), else generates a token.
// If `explicit_only`, generating one is an Error.
Result<TokenSet> ChooseTokens(const std::string& file, const std::string& variable, bool explicit_only);

// Returns the token of an Authorization header, or null.
const Token* FindToken(const std::vector<Token>& tokens, std::string_view authorization);

// Limits requests per minute and token. It is a token bucket that holds one minute's worth.
class RequestRate {
 public:
  explicit RequestRate(double per_minute) : per_minute_(per_minute) {}
  // No value: continue. Otherwise the seconds until the next request is allowed. `now_s` must not decrease.
  std::optional<double> Refuse(const std::string& token, double now_s);

 private:
  struct Bucket {
    double left = 0;
    double at_s = 0;
  };
  const double per_minute_;
  std::mutex mutex_;
  std::map<std::string, Bucket> buckets_;
};

}  // namespace hone

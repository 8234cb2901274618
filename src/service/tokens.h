// The secrets that clients show, and how often each may ask. A token is compared by its hash, in a time that
// does not depend on how much of it is right.
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
  std::string name;  // shown in lists and metrics
  std::string secret;
};

struct TokenSet {
  std::vector<Token> tokens;  // at least one
  bool generated = false;     // made by this process: to be printed once
};

// A line is "TOKEN" or "NAME TOKEN"; empty lines and lines with # are skipped. The file must be readable by
// its owner alone.
Result<std::vector<Token>> ReadTokenFile(const fs::path& path);
// From the file if there is one, else from `variable` (the value of $HONE_JUDGE_TOKEN), else a new one. If
// `explicit_only`, a new one is an Error.
Result<TokenSet> ChooseTokens(const std::string& file, const std::string& variable, bool explicit_only);

// The token of an Authorization header, or null.
const Token* FindToken(const std::vector<Token>& tokens, std::string_view authorization);

// Requests per minute and token: a bucket that holds a minute's worth and fills steadily.
class RequestRate {
 public:
  explicit RequestRate(double per_minute) : per_minute_(per_minute) {}
  // Nothing: go on. Otherwise the seconds until the next request may come. `now_s` goes up.
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

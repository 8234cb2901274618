#include "service/tokens.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "base/ids.h"
#include "base/text.h"
#include "dashboard/access.h"

namespace hone {

namespace {

constexpr size_t kShortestToken = 16;
constexpr size_t kLongestToken = 512;

Status CheckToken(const std::string& token, const std::string& where) {
  const bool plain = std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 127; });
  if (token.size() >= kShortestToken && token.size() <= kLongestToken && plain) return Ok();
  return Error{ErrorKind::kUsage,
               fmt::format("{}: a token must have {} to {} visible ASCII characters; `openssl rand -hex 32` "
                           "makes one",
                           where, kShortestToken, kLongestToken)};
}

}  // namespace

Result<std::vector<Token>> ReadTokenFile(const fs::path& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) == 0 && (facts.st_mode & 077) != 0)
    return Error{ErrorKind::kUsage, fmt::format("others can read the token file {}; run chmod 600 {}",
                                                path.string(), path.string())};
  Result<std::string> text = ReadFile(path, 1u << 20);
  if (!text.ok()) return std::move(text).error().WithContext("token file");
  std::vector<Token> tokens;
  std::set<std::string> names;
  int line_number = 0;
  for (const std::string& line : Lines(*text)) {
    ++line_number;
    const std::string_view words = Trim(line);
    if (words.empty() || words[0] == '#') continue;
    const std::string where = fmt::format("{} line {}", path.string(), line_number);
    const size_t blank = words.find_first_of(" \t");
    Token token;
    token.name = blank == std::string_view::npos ? fmt::format("token{}", tokens.size() + 1)
                                                 : std::string(words.substr(0, blank));
    token.secret = std::string(blank == std::string_view::npos ? words : Trim(words.substr(blank)));
    HONE_RETURN_IF_ERROR(CheckToken(token.secret, where));
    if (!names.insert(token.name).second)
      return Error{ErrorKind::kUsage, where + ": the name " + token.name + " is there twice"};
    tokens.push_back(std::move(token));
  }
  if (tokens.empty())
    return Error{ErrorKind::kUsage, "the token file " + path.string() +
                                        " holds no token; write one line with a name and a token"};
  return tokens;
}

Result<TokenSet> ChooseTokens(const std::string& file, const std::string& variable, bool explicit_only) {
  TokenSet chosen;
  if (!file.empty()) {
    HONE_ASSIGN_OR_RETURN(chosen.tokens, ReadTokenFile(file));
    return chosen;
  }
  if (!variable.empty()) {
    HONE_RETURN_IF_ERROR(CheckToken(variable, "HONE_JUDGE_TOKEN"));
    chosen.tokens = {{"environment", variable}};
    return chosen;
  }
  if (explicit_only)
    return Error{ErrorKind::kUsage,
                 "a judge that other machines can reach needs a token of yours: set HONE_JUDGE_TOKEN or "
                 "pass --token-file FILE"};
  chosen.tokens = {{"generated", RandomHex(24)}};
  chosen.generated = true;
  return chosen;
}

const Token* FindToken(const std::vector<Token>& tokens, std::string_view authorization) {
  constexpr std::string_view kBearer = "bearer ";
  if (authorization.size() > kLongestToken + 32 ||
      ToLower(authorization.substr(0, kBearer.size())) != kBearer)
    return nullptr;
  const std::string given = Sha256(Trim(authorization.substr(kBearer.size())));
  const Token* found = nullptr;
  for (const Token& token : tokens)  // compares all, so that the time does not reveal which one matched
    if (SameSecret(given, Sha256(token.secret))) found = &token;
  return found;
}

std::optional<double> RequestRate::Refuse(const std::string& token, double now_s) {
  if (per_minute_ <= 0) return std::nullopt;
  const std::scoped_lock lock(mutex_);
  const auto [at, is_new] = buckets_.try_emplace(token, Bucket{per_minute_, now_s});
  Bucket& bucket = at->second;
  const double per_second = per_minute_ / 60;
  bucket.left = std::min(per_minute_, bucket.left + (now_s - bucket.at_s) * per_second);
  bucket.at_s = now_s;
  if (bucket.left < 1) return (1 - bucket.left) / per_second;
  bucket.left -= 1;
  return std::nullopt;
}

}  // namespace hone

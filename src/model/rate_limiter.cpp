#include "model/rate_limiter.h"

#include <time.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/clock.h"
#include "base/text.h"

namespace hone {

namespace {

// How soon to check again for the end of a request that others wait for.
constexpr double kSoon_s = 0.05;
// A limit without a size, or one that lasts for days, causes no longer wait than this.
constexpr double kLongest_s = 120;

std::optional<double> Number(const RateLimiter::Headers& headers, const std::string& name) {
  const auto found = headers.find(name);
  if (found == headers.end()) return std::nullopt;
  const std::string text(Trim(found->second));
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value < 0)
    return std::nullopt;
  return value;
}

}  // namespace

std::optional<double> DurationSeconds(const std::string& text) {
  static const std::pair<std::string_view, double> kUnits[] = {
      {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
  std::string_view rest = Trim(text);
  if (rest.empty()) return std::nullopt;
  double seconds = 0;
  while (!rest.empty()) {
    double number = 0;
    const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (code != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
    const bool first = rest.data() == Trim(text).data();
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    if (rest.empty()) return first ? std::optional<double>(number) : std::nullopt;
    const auto* unit = std::find_if(std::begin(kUnits), std::end(kUnits),
                                    [&](const auto& one) { return StartsWith(rest, one.first); });
    if (unit == std::end(kUnits)) return std::nullopt;
    seconds += number * unit->second;
    rest.remove_prefix(unit->first.size());
  }
  return seconds;
}

std::optional<double> SecondsUntil(const std::string& rfc3339, int64_t now) {
  const std::string text(Trim(rfc3339));
  tm date{};
  const char* rest = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &date);
  if (rest == nullptr) return std::nullopt;
  if (*rest == '.')
    for (++rest; *rest >= '0' && *rest <= '9'; ++rest) continue;
  if (std::string_view(rest) != "Z" && std::string_view(rest) != "+00:00") return std::nullopt;
  return std::max(0.0, static_cast<double>(timegm(&date) - now));
}

RateLimiter::RateLimiter(std::function<double()> steady, std::function<int64_t()> calendar)
    : steady_(std::move(steady)), calendar_(std::move(calendar)) {}

RateLimiter::RateLimiter()
    : RateLimiter([] { return static_cast<double>(NowNs()) * 1e-9; }, [] { return UnixSeconds(); }) {}

RateLimiter::Ticket& RateLimiter::Ticket::operator=(Ticket&& other) noexcept {
  if (this == &other) return *this;
  Lost();
  limiter_ = std::exchange(other.limiter_, nullptr);
  tokens_ = other.tokens_;
  probe_ = other.probe_;
  return *this;
}

void RateLimiter::Ticket::Answered(int status, const Headers& headers) {
  if (RateLimiter* limiter = std::exchange(limiter_, nullptr))
    limiter->Hear(status, headers, tokens_, probe_);
}

void RateLimiter::Ticket::Lost() {
  if (RateLimiter* limiter = std::exchange(limiter_, nullptr)) {
    const std::lock_guard lock(limiter->mutex_);
    limiter->Forget(tokens_, probe_);
  }
}

// An amount that exceeds the bucket's size may proceed when the bucket is full.
double RateLimiter::Bucket::Wait(double amount, double now) const {
  if (most <= 0) return 0;
  const double missing = std::min(amount, most) - (left + (now - at) * per_second);
  if (missing <= 0) return 0;
  return per_second > 0 ? std::min(missing / per_second, kLongest_s) : kLongest_s;
}

void RateLimiter::Bucket::Spend(double amount, double now) {
  if (most <= 0) return;
  left = std::min(most, left + (now - at) * per_second) - amount;
  at = now;
}

RateLimiter::Answer RateLimiter::Take(int64_t tokens) {
  const std::lock_guard lock(mutex_);
  const double now = steady_();
  Answer answer;
  answer.wait_s = std::max(
      {not_before_ - now, requests_.Wait(1, now), tokens_.Wait(static_cast<double>(tokens), now), 0.0});
  if (answer.wait_s > 0) return answer;
  if (refused_ && probing_) {
    answer.wait_s = kSoon_s;
    return answer;
  }
  probing_ = refused_;
  ++under_way_;
  tokens_under_way_ += tokens;
  requests_.Spend(1, now);
  tokens_.Spend(static_cast<double>(tokens), now);
  answer.ticket = Ticket(this, tokens, refused_);
  return answer;
}

void RateLimiter::Refused(double wait_s) {
  const std::lock_guard lock(mutex_);
  refused_ = true;
  not_before_ = std::max(not_before_, steady_() + wait_s);
}

void RateLimiter::Forget(int64_t tokens, bool probe) {
  --under_way_;
  tokens_under_way_ -= tokens;
  if (probe) probing_ = false;
}

void RateLimiter::Hear(int status, const Headers& headers, int64_t tokens, bool probe) {
  const std::lock_guard lock(mutex_);
  Forget(tokens, probe);
  // Requests sent before the refusal say nothing about the present state.
  if (probe && status / 100 == 2) refused_ = false;
  const double now = steady_();
  Read(headers, "requests", static_cast<double>(under_way_), now, &requests_);
  Read(headers, "tokens", static_cast<double>(tokens_under_way_), now, &tokens_);
}

// Pending requests may or may not be in the server's count. This assumes that they are not.
void RateLimiter::Read(const Headers& headers, const char* kind, double under_way, double now,
                       Bucket* bucket) {
  const std::string name(kind);
  std::optional<double> most = Number(headers, "x-ratelimit-limit-" + name);
  std::optional<double> left = Number(headers, "x-ratelimit-remaining-" + name);
  std::optional<double> reset;
  if (const auto found = headers.find("x-ratelimit-reset-" + name); found != headers.end())
    reset = DurationSeconds(found->second);
  const std::string theirs = "anthropic-ratelimit-" + std::string(name == "tokens" ? "input-tokens" : name);
  for (const std::string& prefix : {"anthropic-ratelimit-" + name, theirs}) {
    if (const std::optional<double> told = Number(headers, prefix + "-limit")) most = told;
    if (const std::optional<double> told = Number(headers, prefix + "-remaining")) left = told;
    if (const auto found = headers.find(prefix + "-reset"); found != headers.end())
      reset = SecondsUntil(found->second, calendar_());
  }
  if (!most || !left || !reset || *most <= 0) return;
  // The reset is the time until the limit is fully restored; the missing amount returns evenly until then.
  const double missing = std::max(*most - *left, 0.0);
  // Responses may overtake each other, so an older one must not restore what a newer one used.
  double now_left = *left - under_way;
  if (bucket->most == *most)
    now_left = std::min(now_left, bucket->left + (now - bucket->at) * bucket->per_second);
  bucket->most = *most;
  bucket->left = now_left;
  bucket->per_second = missing / std::max(*reset, 1e-3);
  if (missing == 0) bucket->per_second = *most / 60;  // full, so the refill rate is unknown
  bucket->at = now;
}

}  // namespace hone

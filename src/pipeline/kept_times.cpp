#include "pipeline/kept_times.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"

namespace hone {

namespace {

constexpr double kAgree = 1.25;
// A call of any module takes longer. A machine that was too busy for any measurement gives less.
constexpr double kLeastKeptUs = 0.5;

}  // namespace

KeptTimes::KeptTimes(fs::path path) : path_(std::move(path)) {
  const Result<std::string> text = ReadFile(path_);
  if (!text.ok()) return;
  const Result<Json> json = ParseJson(*text);
  if (!json.ok()) return;
  const Json& times = GetMember(*json, "times_us");
  if (!times.is_array()) return;
  for (const Json& time : times)
    if (time.is_number()) us_.push_back(time.get<double>());
}

std::optional<double> KeptTimes::Agreed() const {
  if (us_.size() < 2) return std::nullopt;
  const auto [less, more] = std::minmax(us_[us_.size() - 2], us_.back());
  if (!std::isfinite(more) || less <= kLeastKeptUs || more > kAgree * less) return std::nullopt;
  return less;
}

void KeptTimes::Add(double us) {
  us_.push_back(us);
  if (us_.size() > 2) us_.erase(us_.begin(), us_.end() - 2);
  KeepInCache(path_, DumpJson(Json{{"times_us", us_}}));
}

}  // namespace hone

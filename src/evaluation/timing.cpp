#include "evaluation/timing.h"

#include <algorithm>
#include <cmath>

#include "base/median.h"

namespace hone {

namespace {

constexpr size_t kLeastRoundsToBeFarBehind = 4;
constexpr size_t kRoundsToTrim = 6;

}  // namespace

const Contestant* Timing::Find(const std::string& name) const {
  const auto found = std::find_if(contestants.begin(), contestants.end(),
                                  [&](const Contestant& one) { return one.name == name; });
  return found == contestants.end() ? nullptr : &*found;
}

bool Timing::RanSlowerBeside() const {
  const Contestant* eager = Find("eager");
  return eager != nullptr && eager_alone_us > 0 && MedianUs(*eager) > 1.5 * eager_alone_us;
}

Timing Timing::Counted() const {
  Timing counted = *this;
  if (!screened || fresh_pairs() < kFreshPairs) return counted;
  counted.screened = false;
  --counted.pairs;
  const auto is_first = [](const auto& one) { return one.pair == 0; };
  for (Contestant& one : counted.contestants) {
    std::erase_if(one.rounds, is_first);
    for (Round& round : one.rounds) --round.pair;
  }
  std::erase_if(counted.collecting, is_first);
  for (Collecting& one : counted.collecting) --one.pair;
  // A baseline without rounds in the fresh pairs was not the best in the first pair.
  std::erase_if(counted.contestants, [](const Contestant& one) { return one.rounds.empty(); });
  return counted;
}

double Timing::CollectUs(int pair) const {
  std::vector<double> values;
  for (const Collecting& one : collecting)
    if (one.pair == pair) values.push_back(one.us);
  return values.empty() ? 0 : std::max(0.0, MedianOf(values));
}

std::vector<double> Timing::CallUs(const Contestant& one) const {
  std::vector<double> values;
  const bool is_candidate = !contestants.empty() && &one == &contestants[0];
  for (const Round& round : one.rounds)
    values.push_back(round.SlopeUs() - (round.copied && !is_candidate ? 2 : 1) * CollectUs(round.pair));
  return values;
}

double Timing::MedianUs(const Contestant& one) const {
  return MedianOf(CallUs(one));
}

double Timing::HighestRatioTo(const Contestant& baseline) const {
  std::vector<double> own = CallUs(contestants[0]), other = CallUs(baseline);
  const size_t rounds = std::min(own.size(), other.size());
  if (rounds < kLeastRoundsToBeFarBehind) return INFINITY;
  std::sort(own.begin(), own.end());
  std::sort(other.begin(), other.end());
  const bool trims = rounds >= kRoundsToTrim;
  const double fast = own[trims ? own.size() / 5 : 0],
               slow = other[other.size() - 1 - (trims ? other.size() / 5 : 0)];
  return fast > 0 && slow > 0 ? slow / fast : INFINITY;
}

double Timing::LatencyUs(const Contestant& one) const {
  std::vector<double> values;
  for (const Round& round : one.rounds) values.push_back(round.LatencyUs());
  return MedianOf(values);
}

}  // namespace hone

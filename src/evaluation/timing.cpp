#include "evaluation/timing.h"

#include <algorithm>

#include "base/median.h"

namespace hone {

const Contestant* Timing::Find(const std::string& name) const {
  const auto found = std::find_if(contestants.begin(), contestants.end(),
                                  [&](const Contestant& one) { return one.name == name; });
  return found == contestants.end() ? nullptr : &*found;
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

double Timing::LatencyUs(const Contestant& one) const {
  std::vector<double> values;
  for (const Round& round : one.rounds) values.push_back(round.LatencyUs());
  return MedianOf(values);
}

}  // namespace hone

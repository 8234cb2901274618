#include "verdict/interval.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/student.h"

namespace hone {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// On a quiet machine the ratios of rounds have a spread of at most 0.03. Five times that means a busy
// machine.
constexpr double kBusyRounds = 0.15;
// An estimate within 5% of 1 is near 1. An interval of at most 10% to each side is narrow enough to show
// that.
constexpr double kNearOne = 0.05;
constexpr double kNarrow = 0.10;
// Further pairs are futile if they would accept the candidate with less than this probability. Then the
// estimate may be this far from 1, its interval this wide and the rounds this busy.
constexpr double kFutile = 0.05;
constexpr double kNearEnough = 0.10;
constexpr double kNarrowEnough = 0.20;
constexpr double kFutileBusyRounds = 2 * kBusyRounds;
// The mean of the standard deviation of three normal values whose true one is 1.
constexpr double kDeviationOfThree = 0.886;
// A lead must exceed this many standard errors of one pair of processes.
constexpr double kStandsOut = 4;
// For a normal distribution, the standard deviation divided by the distance from median to quartile.
constexpr double kDeviationOfQuartile = 1.4826;
// From this ratio on, delays that add to the candidate's time matter more than those that multiply it.
constexpr double kFarAhead = 3;
// Shares of a time are skewed, so three of them carry less information than Student's t assumes.
constexpr double kSkewed = 2.3;
// With fewer rounds, even their minimum and maximum do not bound the median with 95%.
constexpr size_t kLeastRounds = 6;

// A sign test: the probability that random rounds agree at least as well as these do.
constexpr double kAgreeByChance = 0.02;  // six of six rounds (one in 64), eight of nine, ten of twelve

// The standard deviation by the median absolute deviation, so that outliers have no extra weight.
double RobustDeviation(std::vector<double> values) {
  const double middle = MedianOf(values);
  for (double& value : values) value = std::abs(value - middle);
  return kDeviationOfQuartile * MedianOf(std::move(values));
}

// The smallest time that one side's rounds can distinguish from zero: the standard error of their median.
double Resolution(std::vector<double> us) {
  std::erase_if(us, [](double value) { return !std::isfinite(value); });
  return us.empty() ? 0 : RobustDeviation(us) / std::sqrt(static_cast<double>(us.size()));
}

// The probability that so few rounds or fewer are not ahead, if each is ahead with probability 1/2.
double ChanceToAgree(const std::vector<double>& leads) {
  const auto rounds = static_cast<double>(leads.size());
  const auto behind = std::count_if(leads.begin(), leads.end(), [](double lead) { return !(lead > 0); });
  double ways = 1, probability = 0;
  for (int i = 0; i <= behind; ++i) {
    probability += ways * std::exp2(-rounds);
    ways *= (rounds - i) / (i + 1);
  }
  return probability;
}

// log(baseline / candidate) for every round, in order. A candidate time below the clock's resolution, as with
// a speed-up of 1000x, is replaced by the resolution. A baseline time that is not positive makes the ratio
// zero. Rounds without information are left out.
std::vector<double> LogRatios(const PairTimes& pair) {
  std::vector<double> found;
  const size_t rounds = std::min(pair.candidate_us.size(), pair.baseline_us.size());
  const double least = Resolution(pair.candidate_us);
  for (size_t i = 0; i < rounds; ++i) {
    const double candidate = pair.candidate_us[i], baseline = pair.baseline_us[i];
    if (!std::isfinite(candidate) || !std::isfinite(baseline)) continue;
    if (candidate <= 0 && baseline <= 0) continue;
    const double counted = std::max(candidate, least);
    found.push_back(counted <= 0    ? kInfinity
                    : baseline <= 0 ? -kInfinity
                                    : std::log(baseline) - std::log(counted));
  }
  return found;
}

double MedianOfPositive(const std::vector<double>& values) {
  std::vector<double> positive;
  for (const double value : values)
    if (std::isfinite(value) && value > 0) positive.push_back(value);
  return MedianOf(std::move(positive));
}

// The factor by which autocorrelation between neighbouring rounds widens the interval of their median. It
// uses only the signs around the median, so outliers have no extra weight.
double NeighbourFactor(const std::vector<double>& values, double median) {
  double alike = 0, pairs = 0;
  for (size_t i = 1; i < values.size(); ++i, ++pairs)
    alike += (values[i] > median) == (values[i - 1] > median) ? 1 : -1;
  // Signs around their own median agree slightly too rarely; 1/n corrects for that.
  const double signs = alike / pairs + 1 / static_cast<double>(values.size());
  const double correlation = std::clamp(std::sin(std::acos(-1.0) / 2 * signs), 0.0, 0.9);
  return std::sqrt((1 + correlation) / (1 - correlation));
}

// One pair's estimate on the logarithmic scale, and its uncertainty to each side.
struct PairEstimate {
  double value = 0;
  double below = kInfinity;
  double above = kInfinity;
  double candidate_us = 0;
  double baseline_us = 0;
  double overhead_us = 0;  // half the width of the interval of the subtracted cost
};

// No value if most rounds have no finite ratio.
std::optional<PairEstimate> EstimatePair(const PairTimes& pair) {
  const std::vector<double> values = LogRatios(pair);
  if (values.empty()) return {};
  PairEstimate estimate;
  estimate.value = MedianOf(values);
  if (!std::isfinite(estimate.value)) return {};
  estimate.candidate_us = std::max(MedianOfPositive(pair.candidate_us), Resolution(pair.candidate_us));
  estimate.baseline_us = MedianOfPositive(pair.baseline_us);
  estimate.overhead_us = std::max(0.0, (pair.overhead_us_high - pair.overhead_us_low) / 2);
  if (!std::isfinite(estimate.overhead_us)) estimate.overhead_us = kInfinity;
  if (values.size() < kLeastRounds) return estimate;
  // The order statistics that bound the median, wider if neighbouring rounds are correlated.
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const double count = static_cast<double>(values.size());
  const double factor = NeighbourFactor(values, estimate.value);
  const double reach = kNormal95 * std::sqrt(count) / 2 * factor;
  const auto rank = static_cast<size_t>(std::max(0.0, std::floor(count / 2 - reach) - 1));
  // If the interval needs more ranks than there are, the outermost values are moved outwards.
  const double beyond = std::max(1.0, reach / (count / 2));
  estimate.below = beyond * (estimate.value - sorted[rank]);
  estimate.above = beyond * (sorted[sorted.size() - 1 - rank] - estimate.value);
  return estimate;
}

double Square(double value) {
  return value * value;
}

// How far the uncertainty of the subtracted cost moves the logarithm of a time, if the time shrinks or grows
// by it.
double Shrunk(double us, double by) {
  return by == 0 ? 0 : by < us ? std::log(us / (us - by)) : kInfinity;
}
double Grown(double us, double by) {
  return by == 0 ? 0 : std::log1p(by / us);  // a candidate below the clock's resolution takes 0 us
}

std::vector<PairEstimate> EstimatePairs(const std::vector<PairTimes>& pairs) {
  std::vector<PairEstimate> found;
  for (const PairTimes& pair : pairs)
    if (const std::optional<PairEstimate> one = EstimatePair(pair)) found.push_back(*one);
  return found;
}

// The lower bound from the candidate's share of the baseline's time. Other load on the machine adds to a
// time. The logarithm of a time near zero then scatters without bound, while its share stays near zero.
double LowByShare(const std::vector<PairEstimate>& pairs) {
  const double count = static_cast<double>(pairs.size());
  double mean = 0, squares = 0, cost = 0;
  for (const PairEstimate& pair : pairs) {
    mean += std::exp(-pair.value) / count;
    cost += pair.overhead_us / pair.baseline_us / count;
  }
  for (const PairEstimate& pair : pairs) squares += Square(std::exp(-pair.value) - mean);
  const double student = kSkewed * Student95(pairs.size() - 1) * std::sqrt(squares / (count - 1) / count);
  return 1 / (mean + std::hypot(student, cost));
}

Interval IntervalOf(const std::vector<PairEstimate>& pairs, double process_spread) {
  Interval interval;
  interval.pairs = static_cast<int>(pairs.size());
  if (pairs.empty()) return interval;
  const double count = static_cast<double>(pairs.size());
  double mean = 0, below = 0, above = 0, cost_below = 0, cost_above = 0;
  for (const PairEstimate& pair : pairs) {
    mean += pair.value / count;
    below += Square(pair.below) / count;
    above += Square(pair.above) / count;
    // The cost is measured once for all pairs, so more pairs do not reduce its uncertainty.
    cost_below +=
        std::hypot(Shrunk(pair.baseline_us, pair.overhead_us), Grown(pair.candidate_us, pair.overhead_us)) /
        count;
    cost_above +=
        std::hypot(Grown(pair.baseline_us, pair.overhead_us), Shrunk(pair.candidate_us, pair.overhead_us)) /
        count;
  }
  const double processes = kNormal95 * std::max(0.0, process_spread);
  if (pairs.size() >= kPairsToAccept) {
    double squares = 0;
    for (const PairEstimate& pair : pairs) squares += Square(pair.value - mean);
    const double student = Student95(pairs.size() - 1) * std::sqrt(squares / (count - 1));
    // All pairs may happen to use fast processes, so more pairs do not reduce this part.
    const double guard = processes * std::sqrt(count / kPairsToAccept);
    below = above = std::max(student, guard);
  } else {
    below = std::hypot(processes, std::sqrt(below));
    above = std::hypot(processes, std::sqrt(above));
  }
  double low = std::exp(mean - std::hypot(below / std::sqrt(count), cost_below));
  if (pairs.size() >= kPairsToAccept && mean > std::log(kFarAhead)) low = std::max(low, LowByShare(pairs));
  const double high = std::exp(mean + std::hypot(above / std::sqrt(count), cost_above));
  interval.estimate = std::min(std::exp(mean), kLargestRatio);
  interval.low = std::min(low, interval.estimate);
  interval.high = std::min(high, kLargestRatio);
  return interval;
}

}  // namespace

Interval RatioInterval(const std::vector<PairTimes>& pairs, double process_spread) {
  return IntervalOf(EstimatePairs(pairs), process_spread);
}

double RoundSpread(const std::vector<double>& us) {
  std::vector<double> logs;
  for (const double value : us)
    if (std::isfinite(value) && value > 0) logs.push_back(std::log(value));
  return logs.size() < 2 ? 0 : RobustDeviation(std::move(logs));
}

double ChanceOfAcceptance(const std::vector<PairTimes>& pairs, double process_spread) {
  const std::vector<PairEstimate> estimates = EstimatePairs(pairs);
  if (estimates.empty()) return 1;
  const double count = static_cast<double>(estimates.size());
  double mean = 0, squares = 0, rounds = 0;
  for (const PairEstimate& pair : estimates) mean += pair.value / count;
  for (const PairEstimate& pair : estimates) {
    squares += Square(pair.value - mean);
    rounds += Square(std::max(pair.below, pair.above) / kNormal95) / count;
  }
  // How much one pair's estimate varies.
  double deviation = std::hypot(process_spread, std::sqrt(rounds));
  if (estimates.size() > 1) deviation = std::max(deviation, std::sqrt(squares / (count - 1)));
  if (!std::isfinite(deviation) || deviation <= 0) return mean > 0 ? 1 : 0;
  const double root = std::sqrt(static_cast<double>(kPairsToAccept));
  const double hurdle =
      std::max(kNormal95 * process_spread, Student95(kPairsToAccept - 1) * kDeviationOfThree * deviation) /
      root;
  const double unknown = std::hypot(deviation / std::sqrt(count), deviation / root);
  return 0.5 * std::erfc((hurdle - mean) / (unknown * std::sqrt(2.0)));
}

bool TooNoisy(const std::vector<PairTimes>& pairs, double process_spread) {
  const std::vector<PairEstimate> estimates = EstimatePairs(pairs);
  if (estimates.empty() || estimates.size() < pairs.size()) return true;
  const Interval interval = IntervalOf(estimates, process_spread);
  if (!interval.Contains(1)) return false;
  if (interval.low <= 0) return true;
  const double distance = std::abs(std::log(interval.estimate));
  const double half_width = std::log(interval.high / interval.low) / 2;
  std::vector<double> spreads;
  for (const PairTimes& pair : pairs) {
    std::vector<double> ratios = LogRatios(pair);
    for (double& ratio : ratios) ratio = std::exp(ratio);
    spreads.push_back(RoundSpread(ratios));
  }
  const double scatter = MedianOf(std::move(spreads));
  const double quiet = kNormal95 * process_spread / std::sqrt(std::min<double>(pairs.size(), kPairsToAccept));
  double near = std::max(kNearOne, quiet), narrow = std::max(kNarrow, 1.5 * quiet), busy = kBusyRounds;
  if (ChanceOfAcceptance(pairs, process_spread) < kFutile) {
    near = std::max(near, kNearEnough);
    narrow = std::max(narrow, kNarrowEnough);
    busy = kFutileBusyRounds;
  }
  return distance > near || half_width > narrow || scatter > busy;
}

bool StandsOut(const std::vector<PairTimes>& pairs, double estimate) {
  const bool far_ahead = estimate >= kFarAhead;
  for (const PairTimes& pair : pairs) {
    // The distance of each round from "no difference": by the logarithm, or by the share of the baseline's
    // time that is saved (see LowByShare).
    std::vector<double> leads = LogRatios(pair);
    if (leads.empty()) return false;
    if (far_ahead)
      for (double& lead : leads) lead = -std::expm1(-lead);
    std::sort(leads.begin(), leads.end());
    // If all rounds agree on the winner, their scatter does not matter. With three pairs, one outlier among
    // many rounds is tolerated: an interrupted empty block makes its round's time negative. A single pair
    // must agree in all rounds, because neighbouring rounds are slow together.
    if (leads.front() > 0 ? leads.size() >= kLeastRounds
                          : pairs.size() >= kPairsToAccept && ChanceToAgree(leads) <= kAgreeByChance)
      continue;
    const double middle = MedianOf(leads), towards_one = middle - leads[leads.size() / 4];
    if (!std::isfinite(middle) || !std::isfinite(towards_one)) return false;
    // Either estimate may be small by chance. The standard error of a median is the rounds' deviation divided
    // by the square root of their number.
    const double deviation = std::max(kDeviationOfQuartile * towards_one, RobustDeviation(leads));
    const double lead = far_ahead ? middle : std::log(estimate);
    if (lead < kStandsOut * deviation / std::sqrt(static_cast<double>(leads.size()))) return false;
  }
  return !pairs.empty();
}

}  // namespace hone

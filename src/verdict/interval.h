// The 95% confidence interval of a speed-up. Two levels of chance are in a measurement: rounds of one pair of
// processes differ (the machine drifts, rounds resemble their neighbours, some are wild), and one pair of
// processes differs from the next (memory layout, which core launches kernels). Rounds say nothing about the
// second level, so an acceptance needs at least three pairs.
//
// Each pair gives one number: the median over its rounds of log(baseline / candidate). Both sides of a round
// ran side by side, so what slows both cancels. With K >= 3 pairs the interval is Student's t over these
// numbers; drift, autocorrelation and wild rounds are then part of what the pairs show. Three processes may
// agree by chance, above all where each of them is either fast or slow. The interval is therefore never
// narrower than it would be for processes with the spread `process_spread`. tests/statistics/ checks by
// simulation that the coverage is 95%.
#pragma once

#include <vector>

#include "base/median.h"

namespace hone {

constexpr int kPairsToAccept = 3;

struct Interval {
  double estimate = 0;  // 0: nothing is known
  double low = 0;
  double high = 0;
  int pairs = 0;  // pairs of processes that gave an estimate

  bool Contains(double value) const { return low <= value && value <= high; }
  // One or two pairs may refuse a candidate or find no difference. Only three may accept it.
  bool MayAccept() const { return pairs >= kPairsToAccept && low > 1; }
};

// What one pair of processes measured. Values at the same index belong to the same round.
struct PairTimes {
  std::vector<double> candidate_us;
  std::vector<double> baseline_us;
  // The cost of revealing and collecting, per call. The middle of the two is already subtracted from every
  // time above; the true cost lies between them (95%), for each side on its own.
  double overhead_us_low = 0;
  double overhead_us_high = 0;
};

// Bounds lie in [0, kLargestRatio]; a bound at the end of that range means that the rounds do not bound the
// ratio. A round in which the candidate's time is below what the clock can measure, or even zero or negative,
// counts as the shortest time that the clock can measure.
constexpr double kLargestRatio = 1e6;

// `process_spread`: standard deviation of log(ratio) between pairs of processes on a quiet machine.
Interval RatioInterval(const std::vector<PairTimes>& pairs, double process_spread);

// Standard deviation of the logarithms of the positive values, by their median absolute deviation. One side's
// rounds on a quiet machine lie within about 0.03. 0 for fewer than two values.
double RoundSpread(const std::vector<double>& us);

// Whether the machine was too busy to tell: the interval contains 1 and (a) its estimate is not near 1, or
// (b) it is much wider than quiet processes make it, or (c) the rounds' ratios scatter far more than on a
// quiet machine; or a pair has no estimate at all. An interval that excludes 1 has decided.
bool TooNoisy(const std::vector<PairTimes>& pairs, double process_spread);

// Whether a speed-up of `estimate` stands out of what the rounds of every pair scatter: on a busy machine
// three pairs may agree by luck.
bool StandsOut(const std::vector<PairTimes>& pairs, double estimate);

}  // namespace hone

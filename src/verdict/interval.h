// The 95% confidence interval of a speed-up. A measurement varies on two levels. The rounds of one pair of
// processes differ (the machine drifts, rounds are autocorrelated, some are outliers). Pairs of processes
// differ too (memory layout, the core that launches kernels). Rounds say nothing about the second level, so
// an acceptance needs at least three pairs.
//
// Each pair yields one number: the median over its rounds of log(baseline / candidate). Both sides of a round
// ran side by side, so delays of both cancel. With K >= 3 pairs the interval is Student's t over these
// numbers, which covers drift, autocorrelation and outliers. Three processes may agree by chance, especially
// if each is either fast or slow. The interval is therefore never narrower than for processes with the spread
// `process_spread`. tests/statistics/ checks by simulation that the coverage is 95%.
#pragma once

#include <vector>

#include "base/median.h"

namespace hone {

constexpr int kPairsToAccept = 3;

struct Interval {
  double estimate = 0;  // 0: unknown
  double low = 0;
  double high = 0;
  int pairs = 0;  // pairs of processes that yielded an estimate

  bool Contains(double value) const { return low <= value && value <= high; }
  // One or two pairs may reject a candidate or find no difference. An acceptance needs three.
  bool MayAccept() const { return pairs >= kPairsToAccept && low > 1; }
};

// The measurements of one pair of processes. Values at the same index belong to the same round.
struct PairTimes {
  std::vector<double> candidate_us;
  std::vector<double> baseline_us;
  // The cost of revealing and collecting, per call. Its middle is already subtracted from every time above.
  // The true cost lies between these two deviations from it (95%), independently for each side.
  double overhead_us_low = 0;
  double overhead_us_high = 0;
};

// Bounds lie in [0, kLargestRatio]. A bound at the end of that range means that the rounds do not limit the
// ratio. A candidate time below the clock's resolution, zero or negative counts as the resolution.
constexpr double kLargestRatio = 1e6;

// `process_spread` is the standard deviation of log(ratio) between pairs of processes on a quiet machine.
Interval RatioInterval(const std::vector<PairTimes>& pairs, double process_spread);

// Standard deviation of the logarithms of the positive values, by their median absolute deviation. For one
// side's rounds on a quiet machine it is about 0.03. 0 for fewer than two values.
double RoundSpread(const std::vector<double>& us);

// The probability that three further pairs would accept the candidate, as far as these pairs can tell.
double ChanceOfAcceptance(const std::vector<PairTimes>& pairs, double process_spread);

// Whether the machine was too busy for a decision. The interval contains 1, and one of these holds: the
// estimate is not near 1; the interval is much wider than quiet processes make it; the rounds' ratios scatter
// far more than on a quiet machine. A pair without an estimate also counts. An interval that excludes 1 is a
// decision. So is one that reaches at most 20% to each side if further pairs would hardly accept the
// candidate: measuring on would only make "not faster" more precise.
bool TooNoisy(const std::vector<PairTimes>& pairs, double process_spread);

// Whether a speed-up of `estimate` exceeds the scatter of the rounds in every pair. On a busy machine three
// pairs may agree by chance.
bool StandsOut(const std::vector<PairTimes>& pairs, double estimate);

}  // namespace hone

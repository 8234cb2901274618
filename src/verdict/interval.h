// The confidence interval of a ratio. Rounds are resampled in pairs (a slow moment affects both sides of its
// round); the ratio of medians is computed each time; the middle 95% are the interval. Rounds cannot show the
// difference between one pair of processes and the next. It is added as a fixed width, which was measured by
// judging PyTorch against itself (bench/README.md).
#pragma once

#include <vector>

#include "base/median.h"

namespace hone {

struct Interval {
  double estimate = 0;
  double low = 0;
  double high = 0;
};

// numerator[i] and denominator[i] belong to the same round. `process_spread`: 0.01 widens by 1% on each side.
Interval RatioInterval(const std::vector<double>& numerator, const std::vector<double>& denominator,
                       double process_spread);

}  // namespace hone

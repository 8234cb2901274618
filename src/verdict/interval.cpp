#include "verdict/interval.h"

#include <algorithm>
#include <cmath>

#include "base/ids.h"

namespace hone {

Interval RatioInterval(const std::vector<double>& numerator, const std::vector<double>& denominator,
                       double process_spread) {
  const size_t rounds = std::min(numerator.size(), denominator.size());
  Interval interval;
  if (rounds == 0) return interval;
  auto ratio = [](double top, double bottom) { return bottom > 0 ? top / bottom : 0; };
  interval.estimate = ratio(MedianOf(numerator), MedianOf(denominator));
  // The resamples are fixed, so the same measurement gives the same verdict.
  Random random(0x486F6E65);
  constexpr int kResamples = 4000;
  std::vector<double> found(kResamples), top(rounds), bottom(rounds);
  for (double& value : found) {
    for (size_t i = 0; i < rounds; ++i) {
      const size_t pick = random.Below(rounds);
      top[i] = numerator[pick];
      bottom[i] = denominator[pick];
    }
    value = ratio(MedianOf(top), MedianOf(bottom));
  }
  std::sort(found.begin(), found.end());
  interval.low = found[static_cast<size_t>(0.025 * kResamples)] / (1 + process_spread);
  interval.high = found[static_cast<size_t>(0.975 * kResamples)] * (1 + process_spread);
  return interval;
}

}  // namespace hone

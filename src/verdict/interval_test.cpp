#include "verdict/interval.h"

#include <gtest/gtest.h>

#include <vector>

namespace hone {
namespace {

using Values = std::vector<double>;

TEST(MedianOf, IsTheMiddleOrTheMeanOfTheTwoInTheMiddle) {
  struct Row {
    Values values;
    double median;
  };
  const std::vector<Row> rows = {
      {{}, 0}, {{3}, 3}, {{4, 2}, 3}, {{9, 1, 5}, 5}, {{8, 1, 4, 2}, 3}, {{1, 1, 1, 1000}, 1},
  };
  for (const Row& row : rows) EXPECT_DOUBLE_EQ(MedianOf(row.values), row.median) << row.values.size();
}

TEST(RatioInterval, OfSteadyRoundsIsThePointWidenedByTheProcessSpread) {
  const Interval interval = RatioInterval(Values(8, 30), Values(8, 20), 0.02);
  EXPECT_DOUBLE_EQ(interval.estimate, 1.5);
  EXPECT_DOUBLE_EQ(interval.low, 1.5 / 1.02);
  EXPECT_DOUBLE_EQ(interval.high, 1.5 * 1.02);
}

TEST(RatioInterval, WithoutSpreadHasNoWidthOfItsOwn) {
  const Interval interval = RatioInterval(Values(8, 30), Values(8, 20), 0);
  EXPECT_DOUBLE_EQ(interval.low, 1.5);
  EXPECT_DOUBLE_EQ(interval.high, 1.5);
}

TEST(RatioInterval, ResamplesInPairsSoThatAMomentThatSlowsBothSidesCostsNoCertainty) {
  // The machine drifts by 4x, both sides alike: the ratio is 2 in every round.
  Values top, bottom, unpaired;
  for (int i = 0; i < 15; ++i) {
    const double slow = 1 + 0.2 * i;
    top.push_back(200 * slow);
    bottom.push_back(100 * slow);
    unpaired.insert(unpaired.begin(), 100 * slow);
  }
  const Interval paired = RatioInterval(top, bottom, 0);
  EXPECT_DOUBLE_EQ(paired.estimate, 2);
  EXPECT_DOUBLE_EQ(paired.low, 2);
  EXPECT_DOUBLE_EQ(paired.high, 2);
  const Interval crossed = RatioInterval(top, unpaired, 0);
  EXPECT_LT(crossed.low, 1.7) << "the same numbers in another order must be less certain";
  EXPECT_GT(crossed.high, 2.3);
}

TEST(RatioInterval, ContainsItsEstimateAndGrowsWithTheNoise) {
  double previous_width = -1;
  for (const double noise : {0.0, 0.01, 0.1, 0.4}) {
    Values top, bottom;
    for (int i = 0; i < 20; ++i) {
      top.push_back(100 * (1 + noise * ((i * 7) % 11 - 5) / 5.0));
      bottom.push_back(100 * (1 + noise * ((i * 3) % 7 - 3) / 3.0));
    }
    const Interval interval = RatioInterval(top, bottom, 0.01);
    EXPECT_LE(interval.low, interval.estimate) << noise;
    EXPECT_GE(interval.high, interval.estimate) << noise;
    EXPECT_GT(interval.high - interval.low, previous_width) << noise;
    previous_width = interval.high - interval.low;
  }
}

TEST(RatioInterval, SaysTheSameForTheSameRoundsEveryTime) {
  const Values top = {10, 12, 9, 14, 11, 10, 13}, bottom = {9, 11, 10, 10, 12, 9, 11};
  const Interval first = RatioInterval(top, bottom, 0.03);
  const Interval second = RatioInterval(top, bottom, 0.03);
  EXPECT_EQ(first.low, second.low);
  EXPECT_EQ(first.high, second.high);
}

TEST(RatioInterval, HoldsOutAgainstOneWildRound) {
  Values top(11, 100), bottom(11, 50);
  top[4] = 1e6;
  bottom[7] = 1e-6;
  const Interval interval = RatioInterval(top, bottom, 0);
  EXPECT_DOUBLE_EQ(interval.estimate, 2);
  EXPECT_DOUBLE_EQ(interval.low, 2);
  EXPECT_DOUBLE_EQ(interval.high, 2);
}

TEST(RatioInterval, OfNothingOrOfTimesThatAreNotPositiveIsZeroAndFinite) {
  struct Row {
    const char* what;
    Values top, bottom;
  };
  const std::vector<Row> rows = {
      {"no rounds", {}, {}},
      {"one side only", {5, 5}, {}},
      {"a clock that stood still", {5, 5, 5}, {0, 0, 0}},
      {"a clock that ran backwards", {5, 5, 5}, {-1, -1, -1}},
  };
  for (const Row& row : rows) {
    const Interval interval = RatioInterval(row.top, row.bottom, 0.02);
    EXPECT_EQ(interval.estimate, 0) << row.what;
    EXPECT_EQ(interval.low, 0) << row.what;
    EXPECT_EQ(interval.high, 0) << row.what;
  }
}

}  // namespace
}  // namespace hone

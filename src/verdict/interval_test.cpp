#include "verdict/interval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/ids.h"

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

PairTimes Pair(Values candidate, Values baseline) {
  PairTimes pair;
  pair.candidate_us = std::move(candidate);
  pair.baseline_us = std::move(baseline);
  return pair;
}

// `around` with a scatter of `noise`; the same numbers in every run.
Values Rounds(double around, double noise, size_t count = 12, uint64_t seed = 1) {
  Random random(seed);
  Values values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(around * std::exp(noise * (static_cast<double>(random.Below(2001)) / 1000 - 1)));
  return values;
}

TEST(PairInterval, OfPairsThatAgreeIsAsWideAsQuietProcessesMakeIt) {
  const double sd = 0.01, at_three = std::exp(1.959964 * sd / std::sqrt(3.0));
  for (const size_t pairs : {3, 4, 5}) {
    const Interval interval =
        RatioInterval(std::vector<PairTimes>(pairs, Pair(Values(8, 20), Values(8, 30))), sd);
    EXPECT_NEAR(interval.estimate, 1.5, 1e-12);
    EXPECT_NEAR(interval.low, 1.5 / at_three, 1e-9) << pairs;
    EXPECT_NEAR(interval.high, 1.5 * at_three, 1e-9) << pairs;
    EXPECT_EQ(interval.pairs, static_cast<int>(pairs));
    EXPECT_TRUE(interval.MayAccept());
  }
}

TEST(PairInterval, OfPairsThatDifferIsStudentsT) {
  std::vector<PairTimes> pairs;
  for (const double log_ratio : {0.1, 0.2, 0.3})
    pairs.push_back(Pair(Values(6, 100), Values(6, 100 * std::exp(log_ratio))));
  const Interval interval = RatioInterval(pairs, 0.01);
  EXPECT_NEAR(std::log(interval.estimate), 0.2, 1e-12);
  EXPECT_NEAR(std::log(interval.low), 0.2 - 4.3027 * 0.1 / std::sqrt(3.0), 1e-4);
  EXPECT_NEAR(std::log(interval.high), 0.2 + 4.3027 * 0.1 / std::sqrt(3.0), 1e-4);
  EXPECT_FALSE(interval.MayAccept()) << "one of three pairs was hardly faster";
}

TEST(PairInterval, OfOneOrTwoPairsNeverAccepts) {
  for (const size_t pairs : {1, 2}) {
    const Interval interval =
        RatioInterval(std::vector<PairTimes>(pairs, Pair(Values(24, 20), Values(24, 60))), 0.01);
    EXPECT_GT(interval.low, 2.9);
    EXPECT_FALSE(interval.MayAccept()) << pairs;
  }
}

TEST(PairInterval, DependsOnRatiosOfRoundsNotOnWhatSlowsBothSides) {
  Values candidate, baseline;
  for (int i = 0; i < 15; ++i) {
    candidate.push_back(100 * (1 + 0.2 * i));
    baseline.push_back(200 * (1 + 0.2 * i));
  }
  const Interval interval = RatioInterval({Pair(candidate, baseline)}, 0);
  EXPECT_NEAR(interval.low, 2, 1e-9);
  EXPECT_NEAR(interval.high, 2, 1e-9);
}

TEST(PairInterval, OfOnePairGrowsWhereRoundsResembleTheirNeighbours) {
  Values alternating, in_blocks;
  for (int i = 0; i < 24; ++i) {
    alternating.push_back(100 * (1 + 0.1 * (i % 2 == 0 ? 1 : -1) + 0.001 * i));
    in_blocks.push_back(100 * (1 + 0.1 * (i / 6 % 2 == 0 ? 1 : -1) + 0.001 * i));
  }
  const Interval quick = RatioInterval({Pair(Values(24, 100), alternating)}, 0);
  const Interval slow = RatioInterval({Pair(Values(24, 100), in_blocks)}, 0);
  EXPECT_GT(slow.high - slow.low, 1.1 * (quick.high - quick.low));
}

TEST(PairInterval, HoldsOutAgainstRoundsWhoseSlopeIsNotPositive) {
  Values candidate(12, 50), baseline(12, 100);
  candidate[2] = -30;
  candidate[5] = 0;
  baseline[8] = -1;
  baseline[9] = candidate[9] = -5;
  baseline[11] = std::numeric_limits<double>::quiet_NaN();
  const std::vector<PairTimes> pairs(3, Pair(candidate, baseline));
  const Interval interval = RatioInterval(pairs, 0.01);
  EXPECT_NEAR(interval.estimate, 2, 1e-9);
  EXPECT_GT(interval.low, 1.9);
  EXPECT_LT(interval.high, 2.1);
}

TEST(PairInterval, LeavesOutAPairWithoutAnEstimate) {
  const PairTimes good = Pair(Values(8, 50), Values(8, 100));
  const PairTimes backwards = Pair(Values(8, -1), Values(8, 100));
  const Interval interval = RatioInterval({good, good, backwards}, 0.01);
  EXPECT_EQ(interval.pairs, 2);
  EXPECT_NEAR(interval.estimate, 2, 1e-9);
  EXPECT_FALSE(interval.MayAccept());
  EXPECT_TRUE(TooNoisy({good, good, backwards}, 0.01));
}

TEST(PairInterval, HasFiniteBoundsThatAreNotNegativeWhateverTheClockSays) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Values odd = {0, -1, 1e-300, 1e300, infinity, -infinity, std::nan(""), 1, 1e-9};
  Random random(7);
  for (int i = 0; i < 5000; ++i) {
    std::vector<PairTimes> pairs(random.Below(6));
    for (PairTimes& pair : pairs) {
      for (uint64_t rounds = random.Below(10); rounds > 0; --rounds) {
        pair.candidate_us.push_back(odd[random.Below(odd.size())]);
        pair.baseline_us.push_back(odd[random.Below(odd.size())]);
      }
      pair.overhead_us_low = odd[random.Below(odd.size())];
      pair.overhead_us_high = odd[random.Below(odd.size())];
    }
    const Interval interval = RatioInterval(pairs, 0.01);
    EXPECT_TRUE(interval.low >= 0 && interval.low <= interval.estimate &&
                interval.estimate <= interval.high && interval.high <= kLargestRatio)
        << interval.low << " " << interval.estimate << " " << interval.high;
    TooNoisy(pairs, 0.01);
  }
}

TEST(PairInterval, OfFewRoundsInOnePairBoundsNothing) {
  const Interval interval = RatioInterval({Pair({50, 51, 49}, {100, 101, 99})}, 0.01);
  EXPECT_NEAR(interval.estimate, 2, 0.05);
  EXPECT_EQ(interval.low, 0);
  EXPECT_EQ(interval.high, kLargestRatio);
}

TEST(PairInterval, GrowsWithTheUncertaintyOfTheSubtractedCost) {
  PairTimes pair = Pair(Values(8, 10), Values(8, 20));
  pair.overhead_us_low = 3;
  pair.overhead_us_high = 5;
  const Interval known_to_one = RatioInterval({pair, pair, pair}, 0);
  // The candidate takes a microsecond more and the baseline one less, independently.
  EXPECT_NEAR(std::log(2 / known_to_one.low), std::hypot(std::log(11.0 / 10), std::log(20.0 / 19)), 1e-9);
  EXPECT_NEAR(std::log(known_to_one.high / 2), std::hypot(std::log(10.0 / 9), std::log(21.0 / 20)), 1e-9);
  pair.overhead_us_high = 30;
  const Interval unknown = RatioInterval({pair, pair, pair}, 0);
  EXPECT_EQ(unknown.high, kLargestRatio) << "the candidate's time may be nothing but the cost";
}

TEST(TooNoisy, SaysWhenTheRoundsCannotTell) {
  struct Row {
    const char* what;
    std::vector<PairTimes> pairs;
    double spread;
    bool noisy;
  };
  const PairTimes same = Pair(Rounds(100, 0.02), Rounds(100, 0.02, 12, 2));
  const std::vector<Row> rows = {
      {"nothing measured", {}, 0.01, true},
      {"a quiet machine and no difference", {same}, 0.03, false},
      {"three quiet pairs and no difference", {same, same, same}, 0.03, false},
      {"clearly faster, if wildly", {Pair(Rounds(100, 0.5), Rounds(900, 0.5, 12, 2))}, 0.03, false},
      {"clearly slower", {Pair(Rounds(200, 0.02), Rounds(100, 0.02, 12, 2))}, 0.03, false},
      {"perhaps faster",
       {Pair(Rounds(100, 0.02), Rounds(140, 0.02)), Pair(Rounds(100, 0.02), Rounds(100, 0.02)),
        Pair(Rounds(100, 0.02), Rounds(120, 0.02))},
       0.03,
       true},
      {"processes that differ by 30% both ways",
       {Pair(Rounds(100, 0.02), Rounds(130, 0.02)), Pair(Rounds(130, 0.02), Rounds(100, 0.02)),
        Pair(Rounds(100, 0.02), Rounds(100, 0.02))},
       0.03,
       true},
      {"the same, where launches make that usual",
       {Pair(Rounds(100, 0.02), Rounds(103, 0.02)), Pair(Rounds(103, 0.02), Rounds(100, 0.02)),
        Pair(Rounds(100, 0.02), Rounds(100, 0.02))},
       0.10,
       false},
      {"rounds that scatter by half", {Pair(Rounds(100, 0.7, 48), Rounds(100, 0.7, 48, 2))}, 0.03, true},
      {"too few rounds", {Pair({100, 100}, {100, 100})}, 0.03, true},
  };
  for (const Row& row : rows) EXPECT_EQ(TooNoisy(row.pairs, row.spread), row.noisy) << row.what;
}

TEST(ChanceOfAcceptance, IsSmallWithoutALeadAndLargeWithOne) {
  const auto chance = [](double ratio, double scatter, int rounds = 12) {
    return ChanceOfAcceptance({Pair(Rounds(100, scatter, rounds), Rounds(100 * ratio, scatter, rounds, 2))},
                              0.03);
  };
  EXPECT_LT(chance(0.95, 0.02), 0.01);
  EXPECT_LT(chance(1.00, 0.02), 0.05);
  EXPECT_GT(chance(1.05, 0.02), 0.15);
  EXPECT_GT(chance(1.20, 0.02), 0.95);
  EXPECT_LT(chance(1.20, 0.20), chance(1.20, 0.02)) << "scatter hides a lead";
  EXPECT_EQ(ChanceOfAcceptance({}, 0.03), 1) << "nothing is known";
  EXPECT_EQ(chance(0.95, 0.02, 5), 0) << "so few rounds know nothing of their scatter, and there is no lead";
  EXPECT_EQ(chance(1.05, 0.02, 5), 1);
  const PairTimes lead = Pair(Rounds(100, 0.02), Rounds(120, 0.02, 12, 2)),
                  none = Pair(Rounds(100, 0.02), Rounds(97, 0.02, 12, 2));
  EXPECT_LT(ChanceOfAcceptance({lead, none}, 0.03), ChanceOfAcceptance({lead}, 0.03))
      << "processes that differ say less";
}

TEST(TooNoisy, IsNotSaidWhereFurtherPairsWouldHardlyAcceptTheCandidate) {
  // A third of the rounds is off to each side.
  const auto noisy = [](double ratio, double off, double spread = 0.03) {
    Values baseline;
    for (int i = 0; i < 12; ++i) baseline.push_back(100 * ratio * std::exp(off * (i % 3 - 1)));
    return TooNoisy({Pair(Values(12, 100), baseline)}, spread);
  };
  EXPECT_FALSE(noisy(0.98, 0.12)) << "not faster, and within a fifth of PyTorch";
  EXPECT_TRUE(noisy(1.06, 0.12)) << "perhaps faster";
  EXPECT_TRUE(noisy(0.98, 0.5)) << "within a half says nothing";
  EXPECT_TRUE(noisy(0.85, 0.19)) << "perhaps slower";
  EXPECT_FALSE(noisy(0.98, 0.09, 0.10)) << "processes that launch kernels differ by more than a fifth anyway";
}

TEST(StandsOut, TellsALuckyDifferenceFromOneThatTheRoundsShow) {
  // The logarithms of these rounds scatter by 0.5 around 1.3, so their medians mean little.
  std::vector<PairTimes> wild;
  for (const uint64_t seed : {3, 5, 7})
    wild.push_back(Pair(Rounds(100, 0.7, 12, seed), Rounds(130, 0.7, 12, seed + 1)));
  EXPECT_FALSE(StandsOut(wild, 1.3));
  EXPECT_TRUE(StandsOut({Pair(Rounds(100, 0.02), Rounds(130, 0.02, 12, 2))}, 1.3));
  EXPECT_FALSE(StandsOut({}, 1.3)) << "nothing was measured";
  EXPECT_FALSE(StandsOut({Pair({}, {})}, 1.3)) << "nothing was measured";
  // One pair with large scatter is enough for doubt.
  const PairTimes quiet = Pair(Rounds(100, 0.02), Rounds(130, 0.02, 12, 2));
  EXPECT_FALSE(StandsOut({quiet, quiet, Pair(Rounds(100, 0.7), Rounds(130, 0.7, 12, 9))}, 1.3));
}

TEST(StandsOut, RoundsThatAllAgreeAreEnoughHoweverMuchTheyDiffer) {
  // A process that shares a core with its own threads in some rounds.
  const std::vector<double> candidate = {16, 31, 28, 17, 41, 26, 16};
  EXPECT_TRUE(StandsOut({Pair(candidate, Values(7, 51))}, 1.9));
  EXPECT_FALSE(StandsOut({Pair(candidate, Values(7, 40))}, 1.5)) << "one round says otherwise";
  EXPECT_FALSE(StandsOut({Pair({16, 41, 28, 17}, Values(4, 51))}, 1.9))
      << "too few rounds to agree by more than luck";
}

TEST(StandsOut, OneFreakRoundOfNineChangesNothing) {
  // A call of 16 ms takes twice as long if its threads share a core. The baseline has an interrupted empty
  // block.
  const std::vector<double> candidate = {27, 15, 48, 33, 16, 22, 17, 45, 16};
  const std::vector<double> baseline = {51, 52, 51, 118, 52, -2.4, 51, 52, 52};
  const auto pairs = [&](const std::vector<double>& us, size_t count) {
    return std::vector<PairTimes>(count, Pair(candidate, us));
  };
  EXPECT_TRUE(StandsOut(pairs(baseline, 3), 2.2));
  EXPECT_FALSE(StandsOut(pairs(baseline, 1), 2.2)) << "neighbouring rounds are slow together";
  std::vector<double> two = baseline;
  two[0] = 20;
  EXPECT_FALSE(StandsOut(pairs(two, 3), 2.2)) << "two of nine rounds say otherwise";
}

TEST(StandsOut, IsNotWeakenedByRoundsThatWereTooFastToTell) {
  Values candidate = Rounds(200, 0.4, 20);
  for (const size_t i : {3, 7, 11, 15, 19}) candidate[i] = -40;
  EXPECT_TRUE(StandsOut({Pair(candidate, Values(20, 51000))}, 255));
  // Rounds in which the baseline was below the clock's resolution count against the candidate.
  Values baseline(20, 51000);
  for (const size_t i : {0, 1, 2, 3, 4, 5}) baseline[i] = -40;
  EXPECT_FALSE(StandsOut({Pair(Values(20, 200), baseline)}, 255));
}

// 50 ms against 50 us in blocks of two calls: the slope of a single call, with noise as large as itself.
TEST(StandsOut, HoldsForACandidateThatTakesLessThanTheClockCanTell) {
  std::vector<PairTimes> pairs;
  for (const double shift : {-40.0, 0.0, 30.0})
    pairs.push_back(
        Pair({50 + shift, -60, 140, -10, 90, -35, 200, 15, -80, 65, 120, 5}, Rounds(50000, 0.01)));
  const Interval interval = RatioInterval(pairs, 0.01);
  EXPECT_TRUE(interval.MayAccept());
  EXPECT_GT(interval.low, 100);
  EXPECT_LT(interval.high, 1e5);
  EXPECT_FALSE(TooNoisy(pairs, 0.01));
  EXPECT_TRUE(StandsOut(pairs, interval.estimate));
}

// 50 ms against times between 0.1 and 12 ms, because other load delays the candidate's process. The scatter
// of their logarithms exceeds the distance from 0; the scatter of their shares does not.
TEST(StandsOut, OfACandidateFarAheadIsSeenInWhatItSaves) {
  const Values candidate = {100, 9000, 300, 12000, 120, 5000, 150, 7000}, baseline(8, 50000);
  EXPECT_TRUE(StandsOut(std::vector<PairTimes>(3, Pair(candidate, baseline)), 30));
  // If half of the rounds save nothing, no speed-up stands out.
  const Values undecided = {100, 52000, 300, 55000, 120, 49000, 150, 51000};
  EXPECT_FALSE(StandsOut(std::vector<PairTimes>(3, Pair(undecided, baseline)), 30));
}

TEST(PairInterval, OfACandidateFarAheadIsBoundedByItsShareOfTheBaselinesTime) {
  std::vector<PairTimes> pairs;
  for (const double us : {2000.0, 100.0, 10000.0}) pairs.push_back(Pair(Values(8, us), Values(8, 50000)));
  const Interval interval = RatioInterval(pairs, 0.01);
  EXPECT_GT(interval.low, 1.2);
  EXPECT_LT(interval.low, 3);
  // The same scatter around a small lead is not decisive.
  pairs.clear();
  for (const double us : {36000.0, 1800.0, 180000.0}) pairs.push_back(Pair(Values(8, us), Values(8, 50000)));
  EXPECT_TRUE(RatioInterval(pairs, 0.01).Contains(1));
}

TEST(RoundSpread, IsTheScatterOfTheLogarithmsWithoutTheWildOnes) {
  EXPECT_EQ(RoundSpread({}), 0);
  EXPECT_EQ(RoundSpread({5}), 0);
  EXPECT_EQ(RoundSpread(Values(9, 5)), 0);
  Values values = Rounds(100, 0.1, 1000);
  // For a uniform distribution over +-0.1 the median absolute deviation is 0.05.
  EXPECT_NEAR(RoundSpread(values), 1.4826 * 0.05, 0.004);
  values.insert(values.end(), {1e9, -5, 0, 1e-9});
  EXPECT_NEAR(RoundSpread(values), 1.4826 * 0.05, 0.004);
}

}  // namespace
}  // namespace hone

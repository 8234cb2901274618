#include "evaluation/timing.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hone {
namespace {

Round MakeRound(double call_us, double fixed_us, double empty_us, int pair = 0) {
  Round round;
  round.pair = pair;
  round.short_count = 4;
  round.long_count = 20;
  round.short_s = (4 * call_us + fixed_us + empty_us) * 1e-6;
  round.long_s = (20 * call_us + fixed_us + empty_us) * 1e-6;
  round.empty_s = empty_us * 1e-6;
  return round;
}

TEST(Round, TheSlopeIsFreeOfWhatABlockCosts) {
  for (const double fixed_us : {0.0, 1e3, 5e6})
    EXPECT_NEAR(MakeRound(120, fixed_us, 80).SlopeUs(), 120, 1e-6);
}

TEST(Round, WorkThatAllCallsShareIsLatency) {
  EXPECT_NEAR(MakeRound(1, 900, 80).LatencyUs(), 900, 1e-6);
  EXPECT_NEAR(MakeRound(1, 900, 80).MeanUs(), 46, 1e-6);
  EXPECT_NEAR(MakeRound(120, 0, 80).LatencyUs(), 0, 1e-6);
}

TEST(Timing, TakesTheMedianOfItsRoundsLessCollectingInTheSamePair) {
  Timing timing;
  Contestant one;
  EXPECT_EQ(timing.MedianUs(one), 0);
  for (const double us : {50.0, 10.0, 1000.0}) one.rounds.push_back(MakeRound(us, 0, 0));
  EXPECT_NEAR(timing.MedianUs(one), 50, 1e-9);
  timing.collecting = {{0, 7}, {0, 8}, {0, 90}, {1, 40}};
  EXPECT_NEAR(timing.MedianUs(one), 42, 1e-9);
  one.rounds = {MakeRound(50, 0, 0, 1)};
  EXPECT_NEAR(timing.MedianUs(one), 10, 1e-9);
}

TEST(Timing, ABaselineIsNotChargedForCopiesOfItsOneBufferAndACandidateIs) {
  Timing timing;
  timing.collecting = {{0, 7}};
  Round round = MakeRound(50, 0, 0);
  round.copied = true;
  timing.contestants = {{"candidate", {round}, 0}, {"cudagraph", {round}, 0}};
  EXPECT_NEAR(timing.MedianUs(timing.contestants[0]), 43, 1e-9);
  EXPECT_NEAR(timing.MedianUs(timing.contestants[1]), 36, 1e-9);
}

TEST(Timing, CollectingIsNeverNegative) {
  Timing timing;
  timing.collecting = {{0, -3}};
  EXPECT_EQ(timing.CollectUs(0), 0);
  EXPECT_EQ(timing.CollectUs(5), 0);
}

TEST(Timing, FindsAContestantByName) {
  Timing timing;
  timing.contestants = {{"candidate", {}, 0}, {"eager", {}, 0}};
  EXPECT_EQ(timing.Find("eager"), &timing.contestants[1]);
  EXPECT_EQ(timing.Find("cudagraph"), nullptr);
}

TEST(Timing, CountsFreshPairsAloneOnceThereAreEnough) {
  Timing timing;
  timing.screened = true;
  timing.contestants = {Contestant{"candidate", {}, 0}, Contestant{"eager", {}, 0},
                        Contestant{"tf32", {}, 0}};
  timing.contestants[2].rounds.push_back(MakeRound(9, 0, 0, 0));
  for (timing.pairs = 0; timing.pairs < 4;) {
    for (size_t i = 0; i < 2; ++i)
      timing.contestants[i].rounds.push_back(MakeRound(10 * (timing.pairs + 1), 0, 0, timing.pairs));
    timing.collecting.push_back({timing.pairs, 1});
    ++timing.pairs;
    const Timing counted = timing.Counted();
    EXPECT_EQ(timing.fresh_pairs(), timing.pairs - 1);
    EXPECT_EQ(counted.pairs, timing.pairs < 4 ? timing.pairs : 3);
  }
  const Timing counted = timing.Counted();
  ASSERT_EQ(counted.contestants.size(), 2u) << "the third was timed in the screening pair alone";
  ASSERT_EQ(counted.contestants[0].rounds.size(), 3u);
  EXPECT_NEAR(counted.contestants[0].rounds[0].SlopeUs(), 20, 1e-9);
  EXPECT_EQ(counted.contestants[0].rounds[0].pair, 0);
  EXPECT_EQ(counted.collecting.size(), 3u);
}

TEST(Timing, TheHighestRatioLeavesOutAFifthOfTheRoundsWhereThereAreEnough) {
  struct Row {
    std::vector<double> candidate_us, baseline_us;
    double ratio;
  };
  for (const Row& row : std::vector<Row>{
           {{90, 90, 90}, {10, 10, 10}, INFINITY},                        // too few
           {{90, 80, 90, 99}, {10, 9, 10, 8}, 10.0 / 80},                 // all count
           {{90, 80, 90, 5}, {10, 9, 10, 8}, 2},                          // all count, so one decides
           {{90, 80, 90, 90, 90, 5}, {10, 9, 10, 8, 9, 700}, 10.0 / 80},  // one of six lies beyond
           {{90, 80, 90, 90, 5, 5}, {10, 9, 10, 8, 9, 10}, 2},            // two do
           {{90, 80, 90, 90, 90, -5000},
            {10, 9, 10, 8, 9, -1},
            10.0 / 80}}) {  // negative ones are rounds too
    Timing timing;
    timing.contestants = {{"candidate", {}, 0}, {"eager", {}, 0}};
    for (const double us : row.candidate_us) timing.contestants[0].rounds.push_back(MakeRound(us, 0, 0));
    for (const double us : row.baseline_us) timing.contestants[1].rounds.push_back(MakeRound(us, 0, 0));
    const double ratio = timing.HighestRatioTo(timing.contestants[1]);
    if (std::isinf(row.ratio))
      EXPECT_EQ(ratio, row.ratio);
    else
      EXPECT_NEAR(ratio, row.ratio, 1e-9);
  }
}

TEST(Timing, ScreeningIsOffUnlessSaid) {
  Timing timing;
  timing.pairs = 5;
  EXPECT_EQ(timing.Counted().pairs, 5);
  EXPECT_EQ(timing.fresh_pairs(), 5);
}

}  // namespace
}  // namespace hone

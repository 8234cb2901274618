#include "evaluation/timing.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace hone

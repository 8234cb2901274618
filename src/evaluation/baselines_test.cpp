#include "evaluation/baselines.h"

#include <gtest/gtest.h>

#include "evaluation/alone_timing.h"

namespace hone {
namespace {

Contestant Rounds(const std::string& name, double call_us, size_t count = 8) {
  Contestant one;
  one.name = name;
  for (size_t i = 0; i < count; ++i) {
    Round round;
    round.short_s = call_us * 1e-6;
    round.long_s = 2 * call_us * 1e-6;
    one.rounds.push_back(round);
  }
  return one;
}

Timing Quiet() {
  Timing timing;
  timing.contestants = {Rounds("candidate", 50), Rounds("eager", 100), Rounds("compile", 130)};
  timing.eager_alone_us = 100;
  timing.pairs = 1;
  return timing;
}

TEST(CompileBehind, TellsByHowMuchInMostRounds) {
  const std::optional<double> behind = CompileBehind(Quiet());
  ASSERT_TRUE(behind);
  EXPECT_NEAR(*behind, 1.3, 1e-9);
  Timing scattered = Quiet();
  for (size_t i = 0; i < 4; ++i) scattered.contestants[2].rounds[i] = Rounds("", 90).rounds[0];
  EXPECT_LT(*CompileBehind(scattered), 1) << "the median alone would say 1.1";
}

TEST(CompileBehind, SaysNothingAfterATimingThatIsNoEvidence) {
  Timing timing = Quiet();
  timing.void_rounds = 1;
  EXPECT_FALSE(CompileBehind(timing));
  timing = Quiet();
  timing.answers_wrong = 1;
  EXPECT_FALSE(CompileBehind(timing));
  timing = Quiet();
  timing.eager_alone_us = 60;  // PyTorch was slowed down
  EXPECT_FALSE(CompileBehind(timing));
  timing = Quiet();
  for (Contestant& one : timing.contestants) one.rounds.resize(5);
  EXPECT_FALSE(CompileBehind(timing));
  timing = Quiet();
  timing.contestants.pop_back();
  EXPECT_FALSE(CompileBehind(timing)) << "it took no part";
}

// On a busy machine a block of calls may take no longer than one call. The floor is not set to that.
TEST(FastestSeenUs, LeavesOutWhatWasNotAvailableAndWhatNobodySaw) {
  const auto rung = [](const char* name, double call_us, bool available) {
    Rung one;
    one.name = name;
    one.call_us = call_us;
    one.available = available;
    return one;
  };
  EXPECT_EQ(FastestSeenUs({}), 0);
  EXPECT_EQ(FastestSeenUs({rung("eager", kNoTimeSeenUs, true), rung("tf32", 3, false)}), 0);
  EXPECT_EQ(FastestSeenUs({rung("eager", 40, true), rung("tf32", kNoTimeSeenUs, true),
                           rung("graph", 30, true), rung("denormals", 0, true)}),
            30);
}

}  // namespace
}  // namespace hone

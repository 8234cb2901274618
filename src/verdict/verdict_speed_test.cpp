// Tests what the judge makes of times: the ratio, its interval, busy machines, and work outside of the timed
// calls. Measurements are hand-written; nothing here reads a clock.
#include "verdict/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "verdict/verdict_fixture.h"

namespace hone {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using namespace verdict_fixture;

TEST(Judge, ALaunchBoundCandidateNeedsAWiderMargin) {
  struct Row {
    double device_us, host_bound_spread;
    bool accepted;
  };
  // 5% faster than the best baseline; a call takes 760 us.
  for (const Row& row : std::vector<Row>{{700, 0.1, true}, {100, 0.1, false}, {100, 0, true}}) {
    Measurement m = Good();
    m.timing->contestants[0] = Steady("candidate", 760);
    m.profile->own_us = row.device_us;
    m.profile->library_us = 0;
    JudgeContext context = Context();
    context.host_bound_spread = row.host_bound_spread;
    EXPECT_EQ(Judge(m, context).accepted(), row.accepted) << row.device_us << " " << row.host_bound_spread;
  }
}

TEST(Judge, SaysNoDifferenceWhenTheIntervalContainsOne) {
  struct Row {
    double candidate_us;
    const char* verdict;
    const char* reason;
  };
  // The best baseline takes 800 us, with a spread of 2% on either side.
  for (const Row& row : std::vector<Row>{{800, "no_difference", "no-difference"},
                                         {790, "no_difference", "no-difference"},
                                         {812, "no_difference", "no-difference"},
                                         {780, "accepted", "faster"},
                                         {820, "rejected", "slower"}}) {
    Measurement m = Good();
    m.timing->contestants[0] = Steady("candidate", row.candidate_us);
    const Verdict v = Judge(m, Context());
    EXPECT_EQ(v.verdict, row.verdict) << row.candidate_us;
    EXPECT_EQ(v.reason, row.reason) << row.candidate_us;
    EXPECT_EQ(v.vs_best.low <= 1 && v.vs_best.high >= 1, v.verdict == "no_difference") << row.candidate_us;
  }
}

TEST(Judge, AWiderProcessSpreadTakesAThinWinBack) {
  Measurement m = Good();
  m.timing->contestants[0] = Steady("candidate", 780);
  JudgeContext context = Context();
  EXPECT_EQ(Judge(m, context).verdict, "accepted");
  context.process_spread = 0.03;
  EXPECT_EQ(Judge(m, context).verdict, "no_difference");
}

TEST(Judge, MeasuresAgainstTheBestRungNotAgainstEager) {
  Measurement m = Good();
  m.timing->contestants[0] = Steady("candidate", 900);
  const Verdict v = Judge(m, Context());
  EXPECT_GT(v.vs_eager.low, 1) << "it does beat eager";
  EXPECT_EQ(v.reason, "slower");
  m.timing->contestants.pop_back();
  const Verdict alone = Judge(m, Context());
  EXPECT_EQ(alone.best_baseline, "eager");
  EXPECT_TRUE(alone.accepted());
}

// Processes differ by a third here. The CUDA graph was timed in only a few rounds of the faster ones.
TEST(Judge, ABaselineThatMissedPairsIsNotTheBest) {
  Measurement m = Good();
  Timing& timing = *m.timing;
  for (Contestant& one : timing.contestants)
    for (Round& round : one.rounds)
      if (one.name == "eager" && round.pair % 2 == 1)
        for (double* seconds : {&round.short_s, &round.long_s}) *seconds *= 1.35;
  timing.contestants[2] = Steady("cudagraph", 990);
  std::erase_if(timing.contestants[2].rounds, [](const Round& round) { return round.pair % 2 == 1; });
  timing.contestants[2].rounds.resize(2);
  const Verdict v = Judge(m, Context());
  EXPECT_EQ(v.best_baseline, "eager");
  EXPECT_GT(v.vs_best.low, 1);
  EXPECT_TRUE(v.accepted()) << v.detail;
}

TEST(Judge, WithoutTimingSaysThatSpeedWasNotJudged) {
  Measurement m = Good();
  m.timing.reset();
  m.speed_not_judged = "no GPU here";
  const Verdict v = Judge(m, Context());
  EXPECT_EQ(v.verdict, "no_difference");
  EXPECT_EQ(v.reason, "speed-not-judged");
  EXPECT_EQ(v.detail, "no GPU here");
  EXPECT_EQ(GateState(v, "correct"), "pass");
  for (const char* gate : {"timed_answers", "synchronised", "floor", "speed"})
    EXPECT_EQ(GateState(v, gate), "skipped") << gate;
  m.speed_not_judged.clear();
  EXPECT_THAT(Judge(m, Context()).detail, Not(IsEmpty()));
}

TEST(Judge, APyTorchThatRanSlowerBesideTheCandidateDecidesNothing) {
  struct Row {
    double eager_us, alone_us, after_us;
    std::string verdict;
  };
  for (const Row& row : std::vector<Row>{{1000, 1000, 0, "accepted"},
                                         {1490, 1000, 0, "accepted"},
                                         {1510, 1000, 0, "inconclusive"},
                                         {1510, 1000, 1500, "accepted"},  // the machine is slower now
                                         {2000, 0, 0, "accepted"}}) {     // not measured
    Measurement m = Good();
    m.timing->contestants[1] = Steady("eager", row.eager_us);
    m.timing->eager_alone_us = row.alone_us;
    m.timing->eager_after_us = row.after_us;
    EXPECT_EQ(Judge(m, Context()).verdict, row.verdict) << row.eager_us << " " << row.after_us;
  }
}

TEST(Judge, WhatSlowedPyTorchCountsAgainstTheCandidateAndHidesNoLargeLead) {
  struct Row {
    double call_us;
    std::string verdict;
  };
  // PyTorch took twice as long as alone, so a lead of up to twice that may be due to the machine.
  for (const Row& row : std::vector<Row>{{300, "inconclusive"}, {210, "inconclusive"}, {40, "accepted"}}) {
    Measurement m = Good();
    m.timing->contestants[0] = Steady("candidate", row.call_us);
    MakeBusy(m);
    const Verdict v = Judge(m, Context());
    EXPECT_EQ(v.verdict, row.verdict) << row.call_us << " " << v.detail;
    if (row.verdict != "accepted") continue;
    EXPECT_NEAR(v.vs_best.estimate, 800 / row.call_us / 2, 0.01) << "as if PyTorch had not been slowed";
    EXPECT_NEAR(v.vs_eager.estimate, 1000 / row.call_us / 2, 0.01);
    EXPECT_NEAR(v.eager_us, 500, 1e-6);
    EXPECT_THAT(v.notes, Contains(HasSubstr("PyTorch ran 2.00x slower")));
  }
}

TEST(Judge, AFixedCostThatVariesCountsInFullAndHidesNoLargeLead) {
  struct Row {
    double call_us;
    std::string verdict;
  };
  for (const Row& row : std::vector<Row>{{400, "inconclusive"}, {4, "accepted"}}) {
    Measurement m = Good();
    m.timing->contestants[0] = Steady("candidate", row.call_us);
    // Two of three rounds have three milliseconds more in their long and short blocks: 100 us per call, and
    // more if a call takes long.
    std::vector<Round>& rounds = m.timing->contestants[0].rounds;
    const double more_s = std::max(3e-3, 30 * row.call_us * 1e-6);
    for (size_t i = 0; i < rounds.size(); ++i) {
      if (i % 3 == 0) continue;
      rounds[i].short_s += more_s;
      rounds[i].long_s += more_s;
    }
    const Verdict v = Judge(m, Context());
    EXPECT_EQ(v.verdict, row.verdict) << row.call_us << " " << v.detail;
    if (row.verdict != "accepted") continue;
    EXPECT_NEAR(v.candidate_us, row.call_us + more_s / 30 * 1e6, 0.5);
    EXPECT_NEAR(v.vs_best.estimate, 800 / v.candidate_us, 0.1);
  }
}

TEST(Judge, AcceptsAfterThreePairsOfProcessesAndRefusesAfterOne) {
  for (int pairs = 1; pairs <= 3; ++pairs) {
    Measurement m = Good();
    m.timing->pairs = pairs;
    for (Contestant& one : m.timing->contestants) one.rounds.resize(static_cast<size_t>(12 * pairs));
    EXPECT_EQ(Judge(m, Context()).verdict, pairs < 3 ? "inconclusive" : "accepted") << pairs;
    m.timing->contestants[0] = Steady("candidate", 4000);
    m.timing->contestants[0].rounds.resize(static_cast<size_t>(12 * pairs));
    EXPECT_EQ(Judge(m, Context()).reason, "slower") << pairs;
  }
}

TEST(Judge, ABusyMachineAccusesNobodyOfWhatTheClockAloneSays) {
  struct Row {
    std::string gate;
    std::function<void(Measurement&, JudgeContext&)> change;
  };
  for (const Row& row : std::vector<Row>{
           {"synchronised",
            [](Measurement&m, JudgeContext&) { m.timing->contestants[0] = Steady("candidate", 40, 9000); }},
           {"floor", [](Measurement&, JudgeContext&c) { c.impossible_below_us = 401; }},
           {"speed",
            [](Measurement&m, JudgeContext&) { m.timing->contestants[0] = Steady("candidate", 900); }}}) {
    Measurement m = Good();
    JudgeContext context = Context();
    row.change(m, context);
    EXPECT_TRUE(Judge(m, context).rejected()) << row.gate;
    MakeBusy(m);
    const Verdict v = Judge(m, context);
    EXPECT_EQ(v.reason, "machine-busy") << row.gate << " " << v.detail;
    EXPECT_EQ(GateState(v, row.gate), "skipped");
    m.timing->worst_answer = 2;  // a wrong answer is wrong on any machine
    EXPECT_EQ(Judge(m, context).reason, "stale-result") << row.gate;
  }
}

TEST(Judge, OneThatIsFarBehindIsSlowerOnABusyMachineToo) {
  for (const double call_us : {1000.0, 20000.0}) {
    Measurement m = Good();
    m.timing->contestants[0] = Steady("candidate", call_us);
    MakeBusy(m);
    EXPECT_EQ(Judge(m, Context()).reason, call_us < 2000 ? "machine-busy" : "slower") << call_us;
  }
}

TEST(Judge, NoScatterHidesThatMostRoundsAreFarBehind) {
  for (const double call_us : {2000.0, 50000.0}) {
    Measurement m = Good();
    m.timing->contestants[0] = Steady("candidate", call_us);
    // In the second pair, an interruption makes most rounds of PyTorch negative, so that it has no mean.
    for (size_t k = 1; k < m.timing->contestants.size(); ++k)
      for (size_t i = 12; i < 24; ++i) {
        Round& round = m.timing->contestants[k].rounds[i];
        if (i % 3 != 0) round.long_s = round.short_s - 3e-3;
      }
    const Verdict v = Judge(m, Context());
    EXPECT_EQ(v.reason, call_us < 4000 ? "machine-busy" : "slower") << call_us << " " << v.detail;
    EXPECT_LE(v.vs_best.low, v.vs_best.high);
  }
}

TEST(Judge, FourRoundsAreEnoughForOneThatIsFarBehindInAllOfThem) {
  struct Row {
    size_t rounds;
    double call_us;
    std::string reason;
  };
  for (const Row& row :
       std::vector<Row>{{3, 6000, "machine-busy"}, {4, 6000, "slower"}, {4, 3000, "machine-busy"}}) {
    Measurement m = Good();
    m.timing->pairs = 1;
    m.timing->contestants[0] = Steady("candidate", row.call_us);
    // The rounds scatter by one half.
    for (Contestant& one : m.timing->contestants) {
      one.rounds.resize(row.rounds);
      one.rounds[0].long_s += one.rounds[0].long_s / 2;
    }
    EXPECT_EQ(Judge(m, Context()).reason, row.reason) << row.rounds << " " << row.call_us;
  }
}

TEST(Judge, AnAcceptanceRestsOnFreshProcessesAlone) {
  Measurement m = Good();
  m.timing->screened = true;
  EXPECT_EQ(Judge(m, Context()).reason, "machine-busy") << "two of three pairs are fresh";
  // With one more pair, the screening pair is left out, whatever it measured.
  for (Contestant& one : m.timing->contestants) {
    for (Round& round : one.rounds) ++round.pair;
    std::vector<Round> first = Steady(one.name, 5000).rounds;
    one.rounds.insert(one.rounds.begin(), first.begin(), first.begin() + 12);
  }
  m.timing->pairs = 4;
  const Verdict v = Judge(m, Context());
  EXPECT_EQ(v.verdict, "accepted") << v.detail;
  EXPECT_NEAR(v.candidate_us, 400, 1);
}

TEST(Judge, WorkThatIsDoneWhileAnswersAreFreedCounts) {
  Measurement m = Good();
  for (Round& round : m.timing->contestants[0].rounds) round.clear_s = 30 * 400e-6;
  Verdict v = Judge(m, Context());
  EXPECT_FALSE(v.accepted()) << v.detail;
  EXPECT_NEAR(v.candidate_us, 800, 1);
  for (Contestant& one : m.timing->contestants)
    for (Round& round : one.rounds) round.clear_s = 30 * 400e-6;
  v = Judge(m, Context());
  EXPECT_TRUE(v.accepted()) << "PyTorch takes as long: " << v.detail;
}

TEST(Judge, TheRatioIsNotAboveThatOfOneCallAlone) {
  // The spread is ten microseconds each way, so the time of a single call is known well.
  for (const double alone_us : {400.0, 600.0}) {
    Measurement m = Good();
    for (Contestant& one : m.timing->contestants)
      for (size_t i = 0; i < one.rounds.size(); ++i) {
        Round& round = one.rounds[i];
        const double call_s = round.SlopeUs() * 1e-6;
        const bool own = &one == &m.timing->contestants[0];
        round.short_count = 1;
        round.short_s = round.empty_s + (own ? alone_us * 1e-6 : call_s) + (i % 2 == 0 ? 1e-5 : -1e-5);
        round.long_s = round.short_s + 29 * call_s;
      }
    const Verdict v = Judge(m, Context());
    EXPECT_TRUE(v.accepted()) << v.detail;
    EXPECT_NEAR(v.vs_best.estimate, 800 / alone_us, 0.05) << alone_us;
  }
}

TEST(Judge, ASlownessMustStandOutOfTheScatterOfTheRoundsToo) {
  for (const double scatter : {0.01, 1.5}) {
    Measurement m = Good();
    m.timing->contestants[0] = Steady("candidate", 900);
    for (size_t i = 0; i < m.timing->contestants[0].rounds.size(); ++i) {
      Round& round = m.timing->contestants[0].rounds[i];
      round.long_s += 20 * 900e-6 * scatter * (static_cast<double>(i % 3) - 1) / 2;
    }
    EXPECT_EQ(Judge(m, Context()).reason, scatter < 0.1 ? "slower" : "machine-busy") << scatter;
  }
}

// Every block of these rounds takes longer, whatever its number of calls.
void DelayTwoOfThreeRounds(Contestant* one) {
  for (size_t i = 0; i < one->rounds.size(); ++i) {
    if (i % 3 == 0) continue;
    Round& round = one->rounds[i];
    for (double* seconds : {&round.empty_s, &round.short_s, &round.long_s}) *seconds += 30e-3;
  }
}

TEST(Judge, TimeOutsideTheSlopeInSomeRoundsAloneDecidesNothing) {
  Measurement m = Good();
  DelayTwoOfThreeRounds(&m.timing->contestants[0]);
  const Verdict v = Judge(m, Context());
  EXPECT_EQ(v.reason, "machine-busy") << v.detail;
  EXPECT_THAT(v.detail, HasSubstr("differs too much from round to round"));
}

TEST(Judge, OneThatIsBehindWithoutTimeOutsideTheSlopeIsSlowerWithIt) {
  Measurement m = Good();
  m.timing->contestants[0] = Steady("candidate", 2400);
  DelayTwoOfThreeRounds(&m.timing->contestants[0]);
  const Verdict v = Judge(m, Context());
  EXPECT_EQ(v.reason, "slower") << v.detail;
}

TEST(Judge, ABlockMayHaveALatencyAsPyTorchsHasOrAShortOne) {
  struct Row {
    double call_us, latency_us, reference_latency_us;
    bool rejected;
  };
  for (const Row& row : std::vector<Row>{{10, 290, 0, false},  // too short to tell
                                         {10, 310, 0, true},
                                         {400, 5900, 0, false},  // less than half of the calls
                                         {400, 6100, 0, true},
                                         {10, 900, 700, false},  // PyTorch's is as long
                                         {400, 0, 0, false}}) {
    Measurement m = Good();
    m.timing->contestants[0] = Steady("candidate", row.call_us, row.latency_us);
    m.timing->contestants[1] = Steady("eager", 1000, row.reference_latency_us);
    JudgeContext context = Context();
    context.impossible_below_us = 1;
    const Verdict v = Judge(m, context);
    EXPECT_EQ(v.rejected(), row.rejected) << row.latency_us << " " << v.detail;
    if (row.rejected) {
      EXPECT_EQ(v.reason, "unsynchronised");
    }
  }
}

TEST(Judge, TimeThatIsHiddenFromTheSlopeCounts) {
  // The candidate takes as long as PyTorch but delays its short blocks, and its empty ones too. The slope
  // alone says 800 / 400.
  for (const double empty_s : {8e-3, 0.0}) {
    Measurement m = Good();
    for (Round& round : m.timing->contestants[0].rounds) {
      round.empty_s += empty_s;
      round.short_s += 8e-3;
      round.long_s = (30 * 800 + 70) * 1e-6;
    }
    const Verdict v = Judge(m, Context());
    EXPECT_FALSE(v.accepted()) << v.detail;
    EXPECT_NEAR(v.candidate_us, 800, 1) << empty_s;
    EXPECT_THAT(v.notes, Contains(HasSubstr("per call of fixed cost per block was added")));
  }
}

TEST(Judge, OneCallAloneMustBeFasterToo) {
  for (const bool faster_alone : {true, false}) {
    Measurement m = Good();
    for (Contestant& one : m.timing->contestants)
      for (Round& round : one.rounds) {
        const double call_s = round.SlopeUs() * 1e-6;
        const bool slow = &one == &m.timing->contestants[0] && !faster_alone;
        round.short_count = 1;
        round.short_s = round.empty_s + (slow ? 900e-6 : call_s);
        round.long_s = round.short_s + 29 * call_s;
      }
    const Verdict v = Judge(m, Context());
    EXPECT_EQ(v.verdict, faster_alone ? "accepted" : "no_difference") << v.detail;
    if (!faster_alone) {
      EXPECT_EQ(v.reason, "only-in-a-row");
    }
  }
}

TEST(Judge, ADifferenceMustStandOutOfTheScatterOfTheRounds) {
  for (const double scatter : {0.02, 0.9}) {
    Measurement m = Good();
    for (Contestant& one : m.timing->contestants)
      for (size_t i = 0; i < one.rounds.size(); ++i) {
        // Pairs have equal medians, but their rounds scatter widely.
        Round& round = one.rounds[i];
        const double call_s = round.SlopeUs() * 1e-6 * (1 + scatter * (static_cast<double>(i % 3) - 1));
        const double other_s =
            &one == &m.timing->contestants[0] ? 2 * round.SlopeUs() * 1e-6 - call_s : call_s;
        round.long_s = round.short_s + 20 * other_s;
      }
    EXPECT_EQ(Judge(m, Context()).verdict, scatter < 0.1 ? "accepted" : "inconclusive") << scatter;
  }
}

TEST(Judge, TimesOfInputsThatNeverChangeAreNotAccepted) {
  JudgeContext context = Context();
  context.fixed_inputs = "input[1]";
  const Verdict v = Judge(Good(), context);
  EXPECT_EQ(v.verdict, "cannot_judge");
  EXPECT_EQ(v.reason, "fixed-inputs");
  EXPECT_NE(v.detail.find("input[1]"), std::string::npos);
  context.allow_blind = true;
  EXPECT_EQ(Judge(Good(), context).verdict, "accepted");
}

TEST(Judge, TimesOfInputsThatHardlyDifferAreNotAccepted) {
  JudgeContext context = Context();
  context.alike_draws = true;
  const Verdict v = Judge(Good(), context);
  EXPECT_EQ(v.reason, "fixed-inputs");
  EXPECT_NE(v.detail.find("hardly differ"), std::string::npos);
  context.allow_blind = true;
  EXPECT_EQ(Judge(Good(), context).verdict, "accepted");
}

TEST(Judge, NothingIsDecidedWhereEveryRoundWasVoid) {
  Measurement m = Good();
  for (Contestant& one : m.timing->contestants) one.rounds.clear();
  m.timing->void_rounds = 9;
  JudgeContext context = Context();
  context.impossible_below_us = 0;
  EXPECT_EQ(Judge(m, context).verdict, "inconclusive");
}

TEST(Judge, WithoutATimePerCallThereIsNoRatio) {
  JudgeContext context = Context();
  context.impossible_below_us = 0;  // a task that is too small for a floor
  for (const size_t which : {0, 1, 2}) {
    Measurement m = Good();
    for (size_t i = 0; i < m.timing->contestants.size(); ++i)
      if (which == 0 ? i == 0 : i >= which)
        m.timing->contestants[i] = Steady(m.timing->contestants[i].name, -1);
    const Verdict v = Judge(m, context);
    EXPECT_EQ(v.verdict, "inconclusive") << which << ": " << v.detail;
  }
}

TEST(Judge, TheFloorIsSilentWhereTheClockIsTooCoarse) {
  Measurement m = Good();
  m.timing->contestants[0] = Steady("candidate", 0.2);
  JudgeContext context = Context();
  context.impossible_below_us = 0.9;
  EXPECT_TRUE(Judge(m, context).accepted());
  context.impossible_below_us = 1.1;
  EXPECT_EQ(Judge(m, context).reason, "too-fast");
}

}  // namespace
}  // namespace hone

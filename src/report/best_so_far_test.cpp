#include "report/best_so_far.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace hone {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::Pointwise;

std::string At(int second) {
  return "2026-01-31T10:00:" + std::string(second < 10 ? "0" : "") + std::to_string(second) + "Z";
}

CallRecord CallAt(const std::string& key, int second, double usd = 0.01) {
  CallRecord call;
  call.key = key;
  call.created = At(second);
  call.cost_usd = usd;
  call.price_known = true;
  return call;
}

CandidateRecord MadeAt(const std::string& key, const std::string& phase, int second, double vs_best) {
  CandidateRecord one;
  one.key = key;
  one.phase = phase;
  one.created = At(second);
  one.verdict = vs_best > 0 ? "accepted" : "rejected";
  one.vs_best = vs_best;
  return one;
}

TEST(BestSoFar, ACandidateCountsWithTheCallThatMadeItAndTheSecondWhereItWasAskedAgain) {
  const CostCurve curve = BestSoFar(
      {MadeAt("zero", "zero", 0, 9), MadeAt("seed0", "seed", 3, 1.5), MadeAt("seed1", "seed", 9, 2),
       MadeAt("seed1.repair1", "seed_repair", 12, 1.8)},
      {CallAt("seed0", 3), CallAt("seed1", 5), CallAt("seed1.again", 9, 0.02), CallAt("seed1.repair1", 12)});
  EXPECT_THAT(curve.best, ElementsAre(1.5, 1.5, 2, 2));
  EXPECT_THAT(curve.usd, Pointwise(DoubleEq(), {0.01, 0.02, 0.04, 0.05}));
  EXPECT_DOUBLE_EQ(curve.before, 1) << "PyTorch itself is no candidate";
  EXPECT_TRUE(curve.priced);
}

TEST(BestSoFar, AllRepliesOfACallCountWithIt) {
  const CostCurve curve = BestSoFar(
      {MadeAt("seed0", "seed", 3, 0), MadeAt("seed0~3", "seed", 3, 1.7), MadeAt("seed1~2", "seed", 5, 2)},
      {CallAt("seed0", 3), CallAt("seed1", 5), CallAt("seed2", 7)});
  EXPECT_THAT(curve.best, ElementsAre(1.7, 2, 2));
}

TEST(BestSoFar, TheExpertsCandidatesAreThereBeforeTheFirstCall) {
  const CostCurve curve = BestSoFar({MadeAt("cpu.fused", "expert", 1, 1.4), MadeAt("seed0", "seed", 8, 1.2)},
                                    {CallAt("seed0", 8)});
  EXPECT_DOUBLE_EQ(curve.before, 1.4);
  EXPECT_THAT(curve.best, ElementsAre(1.4));
  EXPECT_DOUBLE_EQ(curve.AfterCalls(0), 1.4);
}

TEST(BestSoFar, WhatNoCallMadeCountsWithTheCallsMadeByThen) {
  // All within one second, as in a recording: only the order of candidates tells.
  const CostCurve quick = BestSoFar(
      {MadeAt("seed0", "seed", 1, 0), MadeAt("seed0.mended", "mended", 1, 1.5), MadeAt("seed1", "seed", 1, 0),
       MadeAt("tune.grid", "stage_grid", 1, 1.6), MadeAt("tune.grid.tuned1", "tuned", 1, 3)},
      {CallAt("seed0", 1), CallAt("seed1", 1), CallAt("tune.grid", 1), CallAt("tune.block", 1)});
  EXPECT_THAT(quick.best, ElementsAre(1.5, 1.5, 3, 3));
  // Calls that made no candidate, such as an analysis and a failed one, count by their time.
  const CostCurve slow =
      BestSoFar({MadeAt("seed0", "seed", 1, 1.1), MadeAt("gen3.tune.tuned1", "tuned", 20, 2)},
                {CallAt("seed0", 1), CallAt("seed0.analysis", 5), CallAt("gen2.improve", 9),
                 CallAt("gen4.improve", 30)});
  EXPECT_THAT(slow.best, ElementsAre(1.1, 1.1, 2, 2));
}

TEST(BestSoFar, AnAgentsCandidatesCountWithItsSitting) {
  CallRecord sitting = CallAt("agent.sitting1", 1);
  sitting.call_type = "agent";
  const CostCurve curve = BestSoFar({MadeAt("agent1", "agent", 1, 2)}, {sitting});
  EXPECT_DOUBLE_EQ(curve.before, 1);
  EXPECT_THAT(curve.best, ElementsAre(2));
}

TEST(BestSoFar, ARunThatEndedKeepsItsLastValue) {
  CostCurve curve = BestSoFar({MadeAt("seed0", "seed", 1, 1.5), MadeAt("seed1", "seed", 2, 2)},
                              {CallAt("seed0", 1, 0.25), CallAt("seed1", 2, 0.5)});
  EXPECT_DOUBLE_EQ(curve.AfterCalls(1), 1.5);
  EXPECT_DOUBLE_EQ(curve.AfterCalls(500), 2);
  EXPECT_DOUBLE_EQ(curve.AfterDollars(0.2), 1);
  EXPECT_DOUBLE_EQ(curve.AfterDollars(0.25), 1.5);
  EXPECT_DOUBLE_EQ(curve.AfterDollars(10), 2);
  EXPECT_DOUBLE_EQ(curve.Dollars(), 0.75);
  EXPECT_DOUBLE_EQ(BestSoFar({}, {}).AtEnd(), 1);
}

}  // namespace
}  // namespace hone

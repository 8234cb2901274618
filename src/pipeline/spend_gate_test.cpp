#include "pipeline/spend_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "base/ids.h"

namespace hone {
namespace {

using Answer = SpendGate::Answer;

Budget Dollars(double usd) {
  Budget budget;
  budget.usd = usd;
  return budget;
}

MostUse Most(double usd) {
  return {1000, usd};
}

Usage Cost(double usd, int64_t tokens = 0) {
  Usage usage;
  usage.completion_tokens = tokens;
  usage.cost_usd = usd;
  return usage;
}

bool Never() {
  return false;
}

// Whether a call may proceed at once.
bool PassesAtOnce(SpendGate& gate, const std::string& call, const MostUse& most) {
  int looks = 0;
  return gate.Enter(call, most, [&] { return ++looks > 1; }) == Answer::kGo;
}

TEST(SpendGate, CallsGoSideBySideWhileTheMostOfAllOfThemFits) {
  SpendGate gate(Dollars(1));
  EXPECT_TRUE(PassesAtOnce(gate, "a", Most(0.4)));
  EXPECT_TRUE(PassesAtOnce(gate, "b", Most(0.4)));
  EXPECT_FALSE(PassesAtOnce(gate, "c", Most(0.4))) << "1.2 is more than there is";
  EXPECT_TRUE(PassesAtOnce(gate, "d", Most(0.2)));
  gate.Leave("a", Most(0.4), Cost(0.1));
  EXPECT_FALSE(PassesAtOnce(gate, "c", Most(0.4))) << "0.1 spent, 0.6 reserved";
  gate.Leave("b", Most(0.4), Cost(0.1));
  EXPECT_TRUE(PassesAtOnce(gate, "c", Most(0.4)));
}

TEST(SpendGate, WhatNobodyKnowsOrDoesNotFitGoesAlone) {
  for (const MostUse& most : {MostUse{}, MostUse{5000, -1}, Most(3)}) {
    SpendGate gate(Dollars(1));
    EXPECT_TRUE(PassesAtOnce(gate, "a", Most(0.1)));
    EXPECT_FALSE(PassesAtOnce(gate, "b", most));
    gate.Leave("a", Most(0.1), Cost(0.1));
    EXPECT_TRUE(PassesAtOnce(gate, "b", most));
    EXPECT_FALSE(PassesAtOnce(gate, "c", Most(0.1))) << "nobody goes beside it";
    gate.Leave("b", most, Cost(0.5));
    EXPECT_TRUE(PassesAtOnce(gate, "c", Most(0.1)));
  }
}

TEST(SpendGate, ABudgetOfTokensNeedsNoPrice) {
  Budget budget;
  budget.tokens = 2500;
  SpendGate gate(budget);
  EXPECT_TRUE(PassesAtOnce(gate, "a", {1000, -1}));
  EXPECT_TRUE(PassesAtOnce(gate, "b", {1000, -1}));
  EXPECT_FALSE(PassesAtOnce(gate, "c", {1000, -1}));
  gate.Leave("a", {1000, -1}, Cost(0, 900));
  gate.Leave("b", {1000, -1}, Cost(0, 900));
  EXPECT_EQ(gate.WhySpent(), "");
  EXPECT_TRUE(PassesAtOnce(gate, "c", {1000, -1})) << "alone";
  gate.Leave("c", {1000, -1}, Cost(0, 900));
  EXPECT_EQ(gate.WhySpent(), "the budget of 2500 tokens is spent");
}

TEST(SpendGate, WhatIsSpentIsSpentAndOnlyTheCallThatCrossedMayFinish) {
  SpendGate gate(Dollars(1));
  gate.Begin(0, 0.9);
  ASSERT_TRUE(PassesAtOnce(gate, "a", Most(0.5))) << "it does not fit, and is alone";
  gate.Leave("a", Most(0.5), Cost(0.4));
  EXPECT_EQ(gate.WhySpent(), "the budget of $1 is spent");
  EXPECT_EQ(gate.Enter("b", Most(0.01), Never), Answer::kSpent);
  EXPECT_EQ(gate.Enter("a", Most(0.5), Never), Answer::kGo) << "its reply was cut off, say";
}

TEST(SpendGate, WithoutABudgetEverybodyPasses) {
  SpendGate gate((Budget()));
  EXPECT_FALSE(gate.keeps_any());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(gate.Enter("a", {}, Never), Answer::kGo);
}

TEST(SpendGate, OneThatWaitsForALargeShareIsNotOvertaken) {
  SpendGate gate(Dollars(1));
  ASSERT_TRUE(PassesAtOnce(gate, "a", Most(0.5)));
  std::atomic<bool> passed = false;
  std::atomic<int> looks = 0;
  std::thread large([&] {
    passed = gate.Enter("large", Most(0.9), [&] {
      ++looks;
      return false;
    }) == Answer::kGo;
    gate.Leave("large", Most(0.9), Cost(0.1));
  });
  while (looks == 0) std::this_thread::yield();
  EXPECT_FALSE(PassesAtOnce(gate, "small", Most(0.1))) << "it fits, and has to wait behind the other";
  gate.Leave("a", Most(0.5), Cost(0.1));
  large.join();
  EXPECT_TRUE(passed);
  EXPECT_TRUE(PassesAtOnce(gate, "small", Most(0.1)));
}

// Many threads, each with requests that cost up to what they reserved. One in ten does not know its maximum.
TEST(SpendGate, NeverMoreThanOneRequestIsOverTheBudget) {
  int side_by_side = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SpendGate gate(Dollars(3));
    std::mutex mutex;
    double spent = 0;
    std::atomic<int> under_way = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        Random random(seed * 100 + static_cast<uint64_t>(t));
        for (int i = 0;; ++i) {
          const std::string call = std::to_string(t) + "." + std::to_string(i);
          const double most_usd = 0.05 + 0.2 * static_cast<double>(random.Below(1000)) / 1000;
          const bool known = random.Below(10) != 0;
          const MostUse most = known ? Most(most_usd) : MostUse{};
          if (gate.Enter(call, most, Never) != Answer::kGo) return;
          const double cost = (known ? 1 : 3) * most_usd * static_cast<double>(random.Below(1000)) / 1000;
          const int beside = ++under_way;
          std::this_thread::yield();
          --under_way;
          {
            const std::scoped_lock lock(mutex);
            side_by_side = std::max(side_by_side, beside);
            spent += cost;
          }
          gate.Leave(call, most, Cost(cost));
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_GE(spent, 3) << "nothing is left over";
    EXPECT_LT(spent - 0.75, 3) << "over it by less than one request";
  }
  EXPECT_GT(side_by_side, 1);
}

}  // namespace
}  // namespace hone

#include "evaluation/second_look.h"

#include <gtest/gtest.h>

#include <cmath>

#include "evaluation/trial_judge.h"
#include "evaluation/truth_fixtures.h"

namespace hone {
namespace {

// Two outputs of one number each. PyTorch's answers are exact.
Truth TwoNumbers() {
  Truth truth;
  truth.instances.resize(1);
  truth.cases.push_back(HandCase("default#1", 0, HandTree({{"float32", {1}, {1}}}, "input"),
                                 HandTree({{"float32", {1}, {1}}, {"float32", {1}, {1}}}),
                                 HandTree({{"float64", {1}, {1}}, {"float64", {1}, {1}}})));
  return truth;
}

Trial Judged(const Truth& truth, double first, double second) {
  return *JudgeTrial(truth, truth.cases[0], HandTree({{"float32", {1}, {first}}, {"float32", {1}, {second}}}),
                     HandTree({{"float32", {1}, {1}}}, "input"));
}

// PyTorch has the error `off` in both outputs.
DrawError Errs(double off, int* asked) {
  return [off, asked]() -> Result<std::optional<std::vector<Distance>>> {
    ++*asked;
    Distance distance;
    distance.relative = distance.worst = distance.scaled = off;
    distance.elements = 1;
    distance.typical = distance.largest = 1;
    return std::optional(std::vector<Distance>(2, distance));
  };
}

constexpr double kOver = 1e-6;  // twice the floor of 4 ulp

TEST(SecondLook, IsForAnswersThatAreNearlyRightAlone) {
  const Truth truth = TwoNumbers();
  EXPECT_FALSE(IsNearlyRight(Judged(truth, 1, 1))) << "right";
  EXPECT_TRUE(IsNearlyRight(Judged(truth, 1 + kOver, 1)));
  EXPECT_FALSE(IsNearlyRight(Judged(truth, 1 + 1000 * kOver, 1))) << "far off";
  EXPECT_FALSE(IsNearlyRight(Judged(truth, 1 + kOver, 1 + 1000 * kOver))) << "one of both is far off";
  EXPECT_FALSE(IsNearlyRight(Judged(truth, NAN, 1 + kOver)));
  Trial modified = Judged(truth, 1 + kOver, 1);
  modified.input_modified = true;
  EXPECT_FALSE(IsNearlyRight(modified));
}

TEST(SecondLook, TakesWhatPyTorchItselfErrsBy) {
  const Truth truth = TwoNumbers();
  Trial trial = Judged(truth, 1 + kOver, 1);
  int asked = 0;
  EXPECT_EQ(*LookAgain(truth, truth.cases[0], Errs(0.8 * kOver, &asked), &trial), 1);
  EXPECT_FALSE(IsBad(trial));
  EXPECT_EQ(asked, 1) << "the first look decides";
  EXPECT_GT(trial.leaves[0].limit.relative, kOver);
}

TEST(SecondLook, RefusesWhatPyTorchDoesNotErrBy) {
  const Truth truth = TwoNumbers();
  Trial trial = Judged(truth, 1 + kOver, 1);
  int asked = 0;
  EXPECT_EQ(*LookAgain(truth, truth.cases[0], Errs(0.1 * kOver, &asked), &trial), 32);
  EXPECT_TRUE(IsBad(trial));
}

TEST(SecondLook, EndsEarlyWhereFewLooksLeaveNoDoubt) {
  const Truth truth = TwoNumbers();
  Trial trial = Judged(truth, 1 + 100 * kOver, 1);
  int asked = 0;
  EXPECT_EQ(*LookAgain(truth, truth.cases[0], Errs(0.1 * kOver, &asked), &trial), 4);
  EXPECT_TRUE(IsBad(trial));
}

TEST(SecondLook, EndsWherePyTorchRefusesTheInputs) {
  const Truth truth = TwoNumbers();
  Trial trial = Judged(truth, 1 + kOver, 1);
  const DrawError none = []() -> Result<std::optional<std::vector<Distance>>> {
    return std::optional<std::vector<Distance>>();
  };
  EXPECT_EQ(*LookAgain(truth, truth.cases[0], none, &trial), 0);
  EXPECT_TRUE(IsBad(trial));
}

TEST(SecondLook, TheSpreadOfManyLooksCounts) {
  Truth truth = TwoNumbers();
  OwnErrors looks;
  for (int i = 0; i < 16; ++i) {
    int asked = 0;
    looks.push_back(**Errs(i % 2 == 0 ? 0 : 1e-5, &asked)());
  }
  const Limit limit = truth.LimitOf(truth.cases[0], 0, looks);
  EXPECT_GT(limit.relative, 4.4e-5) << "eight deviations of 5e-6 from 5e-6";
  EXPECT_LT(limit.relative, 4.8e-5);
  looks.pop_back();
  EXPECT_DOUBLE_EQ(truth.LimitOf(truth.cases[0], 0, looks).relative, 2e-5) << "too few to tell";
}

}  // namespace
}  // namespace hone

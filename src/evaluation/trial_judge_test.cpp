#include "evaluation/trial_judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evaluation/truth_fixtures.h"

namespace hone {
namespace {

using testing::HasSubstr;

TensorTree Floats(const std::vector<double>& values) {
  return HandTree({{"float32", {static_cast<int64_t>(values.size())}, values}});
}
TensorTree Wide(const std::vector<double>& values) {
  return HandTree({{"float64", {static_cast<int64_t>(values.size())}, values}});
}
TensorTree Inputs(double value) {
  return HandTree({{"float32", {1}, {value}}}, "input");
}

Truth TwoCases() {
  Truth truth;
  truth.instances.resize(1);
  truth.cases.push_back(HandCase("default#1", 0, Inputs(1), Floats({1, 2, 3, 4}), Wide({1, 2, 3, 4.000001})));
  truth.cases.push_back(HandCase("default#2", 0, Inputs(2), Floats({4, 3, 2, 1}), Wide({4, 3, 2, 1})));
  return truth;
}

TEST(TrialJudge, TakesAnAnswerWithinTheLimit) {
  const Truth truth = TwoCases();
  const Trial trial = JudgeTrial(truth, truth.cases[0], Floats({1, 2, 3, 4}), Inputs(1));
  EXPECT_FALSE(IsBad(trial));
  ASSERT_EQ(trial.leaves.size(), 1U);
  EXPECT_GT(trial.leaves[0].limit.relative, trial.leaves[0].distance.relative);
}

TEST(TrialJudge, RefusesAnAnswerOverTheLimit) {
  const Truth truth = TwoCases();
  const Trial trial = JudgeTrial(truth, truth.cases[0], Floats({1, 2, 3, 4.1}), Inputs(1));
  EXPECT_TRUE(IsBad(trial));
  EXPECT_EQ(trial.stale_of, "");
}

TEST(TrialJudge, NamesTheCaseWhoseAnswerCameBack) {
  const Truth truth = TwoCases();
  const Trial trial = JudgeTrial(truth, truth.cases[0], Floats({4, 3, 2, 1}), Inputs(1));
  EXPECT_TRUE(IsBad(trial));
  EXPECT_EQ(trial.stale_of, "default#2");
}

TEST(TrialJudge, NamesShapeDtypeAndStructureThatDiffer) {
  const Truth truth = TwoCases();
  const Case& one = truth.cases[0];
  const Trial shape = JudgeTrial(truth, one, HandTree({{"float32", {2, 2}, {1, 2, 3, 4}}}), Inputs(1));
  EXPECT_THAT(shape.shape_problem, HasSubstr("[2, 2] where [4]"));
  const Trial dtype = JudgeTrial(truth, one, Wide({1, 2, 3, 4}), Inputs(1));
  EXPECT_THAT(dtype.dtype_problem, HasSubstr("float64 where float32"));
  const Trial more =
      JudgeTrial(truth, one, HandTree({{"float32", {4}, {1, 2, 3, 4}}, {"float32", {1}, {1}}}), Inputs(1));
  EXPECT_THAT(more.shape_problem, HasSubstr("(tensor, tensor) where tensor"));
  EXPECT_TRUE(IsBad(shape) && IsBad(dtype) && IsBad(more));
}

TEST(TrialJudge, NoticesInputsThatChanged) {
  const Truth truth = TwoCases();
  EXPECT_TRUE(JudgeTrial(truth, truth.cases[0], Floats({1, 2, 3, 4}), Inputs(7)).input_modified);
  EXPECT_TRUE(JudgeTrial(truth, truth.cases[0], Floats({1, 2, 3, 4}), TensorTree()).input_modified);
}

TEST(TrialJudge, TakesAnIntegerThatPyTorchItselfGives) {
  Truth truth;
  truth.instances.resize(1);
  const auto index = [](double value) { return HandTree({{"int64", {1}, {value}}}); };
  truth.cases.push_back(HandCase("default#1", 0, Inputs(1), index(2), index(3)));
  EXPECT_FALSE(IsBad(JudgeTrial(truth, truth.cases[0], index(2), Inputs(1))));
  EXPECT_FALSE(IsBad(JudgeTrial(truth, truth.cases[0], index(3), Inputs(1))));
}

}  // namespace
}  // namespace hone

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
  const Trial trial = *JudgeTrial(truth, truth.cases[0], Floats({1, 2, 3, 4}), Inputs(1));
  EXPECT_FALSE(IsBad(trial));
  ASSERT_EQ(trial.leaves.size(), 1U);
  EXPECT_GT(trial.leaves[0].limit.relative, trial.leaves[0].distance.relative);
}

TEST(TrialJudge, RefusesAnAnswerOverTheLimit) {
  const Truth truth = TwoCases();
  const Trial trial = *JudgeTrial(truth, truth.cases[0], Floats({1, 2, 3, 4.1}), Inputs(1));
  EXPECT_TRUE(IsBad(trial));
  EXPECT_EQ(trial.stale_of, "");
}

TEST(TrialJudge, NamesTheCaseWhoseAnswerCameBack) {
  const Truth truth = TwoCases();
  const Trial trial = *JudgeTrial(truth, truth.cases[0], Floats({4, 3, 2, 1}), Inputs(1));
  EXPECT_TRUE(IsBad(trial));
  EXPECT_EQ(trial.stale_of, "default#2");
}

TEST(TrialJudge, NamesShapeDtypeAndStructureThatDiffer) {
  const Truth truth = TwoCases();
  const Case& one = truth.cases[0];
  const Trial shape = *JudgeTrial(truth, one, HandTree({{"float32", {2, 2}, {1, 2, 3, 4}}}), Inputs(1));
  EXPECT_THAT(shape.shape_problem, HasSubstr("[2, 2] where [4]"));
  const Trial dtype = *JudgeTrial(truth, one, Wide({1, 2, 3, 4}), Inputs(1));
  EXPECT_THAT(dtype.dtype_problem, HasSubstr("float64 where float32"));
  const Trial more =
      *JudgeTrial(truth, one, HandTree({{"float32", {4}, {1, 2, 3, 4}}, {"float32", {1}, {1}}}), Inputs(1));
  EXPECT_THAT(more.shape_problem, HasSubstr("(tensor, tensor) where tensor"));
  EXPECT_TRUE(IsBad(shape) && IsBad(dtype) && IsBad(more));
}

TEST(TrialJudge, NoticesInputsThatChanged) {
  const Truth truth = TwoCases();
  EXPECT_TRUE(JudgeTrial(truth, truth.cases[0], Floats({1, 2, 3, 4}), Inputs(7))->input_modified);
  EXPECT_TRUE(JudgeTrial(truth, truth.cases[0], Floats({1, 2, 3, 4}), TensorTree())->input_modified);
}

TEST(TrialJudge, TakesAnIntegerThatPyTorchItselfGives) {
  Truth truth;
  truth.instances.resize(1);
  const auto index = [](double value) { return HandTree({{"int64", {1}, {value}}}); };
  truth.cases.push_back(HandCase("default#1", 0, Inputs(1), index(2), index(3)));
  EXPECT_FALSE(IsBad(*JudgeTrial(truth, truth.cases[0], index(2), Inputs(1))));
  EXPECT_FALSE(IsBad(*JudgeTrial(truth, truth.cases[0], index(3), Inputs(1))));
}

TensorTree Hashes(int64_t value) {
  return *ParseTree(Json{{"kind", "tensor"}, {"dtype", "int64"}, {"shape", {1}}, {"offset", 0}, {"bytes", 8}},
                    *SharedBlob::Of("test", std::as_bytes(std::span(&value, 1))), "output");
}

TEST(TrialJudge, ComparesEveryBitOfALargeInteger) {
  constexpr int64_t kLarge = (int64_t{1} << 60) + 3;
  Truth truth;
  truth.instances.resize(1);
  truth.cases.push_back(HandCase("default#1", 0, Inputs(1), Hashes(kLarge), Hashes(kLarge)));
  EXPECT_FALSE(IsBad(*JudgeTrial(truth, truth.cases[0], Hashes(kLarge), Inputs(1))));
  EXPECT_TRUE(IsBad(*JudgeTrial(truth, truth.cases[0], Hashes(kLarge - 3), Inputs(1))))
      << "the same as a double";
}

Truth OneCase(TensorTree expected, TensorTree exact) {
  Truth truth;
  truth.instances.resize(1);
  truth.cases.push_back(HandCase("default#1", 0, Inputs(1), std::move(expected), std::move(exact)));
  return truth;
}

TensorTree Indices(const std::vector<double>& values) {
  return HandTree({{"int64", {static_cast<int64_t>(values.size())}, values}});
}

TEST(TrialJudge, TakesAnotherIndexOnlyWhereValuesTieWithinRounding) {
  Truth truth = OneCase(Indices({3, 1, 4, 0}), Indices({3, 1, 4, 0}));
  truth.cases[0].nearby.push_back(Indices({3, 2, 4, 0}));  // rounding decides the second
  const auto bad = [&](const std::vector<double>& values) {
    return IsBad(*JudgeTrial(truth, truth.cases[0], Indices(values), Inputs(1)));
  };
  EXPECT_FALSE(bad({3, 1, 4, 0}));
  EXPECT_FALSE(bad({3, 2, 4, 0}));
  EXPECT_FALSE(bad({3, 0, 4, 0})) << "a third one of the same tie";
  EXPECT_TRUE(bad({3, 99, 4, 0})) << "no index of this output";
  EXPECT_TRUE(bad({2, 1, 4, 0})) << "rounding does not decide the first";
}

TEST(TrialJudge, OneLargeChannelOrAMaskHidesNothing) {
  std::vector<double> exact(64), wrong, own;
  for (size_t i = 0; i < exact.size(); ++i) exact[i] = i < 32 ? -1e9 : 0.1 * static_cast<double>(i - 30);
  own = wrong = exact;
  wrong[40] += 0.5;
  const auto tree = [](const char* dtype, const std::vector<double>& values) {
    return HandTree({{dtype, {2, 32}, values}});
  };
  const Truth truth = OneCase(tree("float32", own), tree("float64", exact));
  const Trial right = *JudgeTrial(truth, truth.cases[0], tree("float32", own), Inputs(1));
  EXPECT_FALSE(IsBad(right));
  const Trial trial = *JudgeTrial(truth, truth.cases[0], tree("float32", wrong), Inputs(1));
  EXPECT_TRUE(IsBad(trial));
  EXPECT_LE(trial.leaves[0].distance.relative, trial.leaves[0].limit.relative) << "the norm does not see it";
  EXPECT_EQ(trial.leaves[0].distance.scaled_at, 40U);
}

TEST(TrialJudge, ToleranceComparesWithPyTorchItself) {
  Truth truth = OneCase(Floats({1, 2, 3, 4}), Wide({1, 2, 3, 4}));
  truth.rule.atol = truth.rule.rtol = 1e-2;
  EXPECT_FALSE(IsBad(*JudgeTrial(truth, truth.cases[0], Floats({1.01, 2, 3, 4}), Inputs(1))));
  const Trial trial = *JudgeTrial(truth, truth.cases[0], Floats({1.03, 2.04, 3, 4}), Inputs(1));
  EXPECT_TRUE(IsBad(trial));
  EXPECT_EQ(trial.leaves[0].far, 2U);
}

// A tensor and a Python number.
TensorTree WithNumber(double value) {
  TensorTree tree = HandTree({{"float32", {1}, {1}}});
  tree.structure = "(tensor, number)";
  tree.numbers.push_back({"output[1]", value, value == static_cast<int>(value)});
  return tree;
}

TEST(TrialJudge, ComparesPythonNumbersAsNumbers) {
  const Truth truth = OneCase(WithNumber(2.5), WithNumber(2.5));
  const auto bad = [&](double value) {
    return IsBad(*JudgeTrial(truth, truth.cases[0], WithNumber(value), Inputs(1)));
  };
  EXPECT_FALSE(bad(2.5));
  EXPECT_FALSE(bad(2.5 * (1 + 1e-7)));
  EXPECT_TRUE(bad(2.51));
  const Truth whole = OneCase(WithNumber(3), WithNumber(3));
  EXPECT_TRUE(IsBad(*JudgeTrial(whole, whole.cases[0], WithNumber(4), Inputs(1))));
}

TEST(TrialJudge, RefusesAnExpandedOutputAndRemarksOnAnotherMemoryOrder) {
  const auto strided = [](std::vector<int64_t> stride) {
    TensorTree tree = HandTree({{"float32", {2, 2}, {1, 1, 1, 1}}});
    tree.leaves[0].stride = std::move(stride);
    return tree;
  };
  const Truth truth = OneCase(strided({2, 1}), HandTree({{"float64", {2, 2}, {1, 1, 1, 1}}}));
  const Case& one = truth.cases[0];
  EXPECT_THAT(JudgeTrial(truth, one, strided({0, 1}), Inputs(1))->shape_problem, HasSubstr("one address"));
  EXPECT_FALSE(IsBad(*JudgeTrial(truth, one, strided({1, 2}), Inputs(1))));
  EXPECT_THAT(StrideRemark(one, strided({1, 2})), HasSubstr("[1, 2]"));
  EXPECT_EQ(StrideRemark(one, strided({2, 1})), "");
}

TEST(TrialJudge, RefusesMemoryOfOthersAndOtherLayouts) {
  const auto made = [](std::vector<int64_t> stride, const char* shared) {
    TensorTree tree = Floats({1, 2});
    tree.leaves[0].stride = std::move(stride);
    tree.leaves[0].shared = shared;
    return tree;
  };
  const Truth truth = OneCase(made({1}, ""), Wide({1, 2}));
  const Case& one = truth.cases[0];
  EXPECT_FALSE(IsBad(*JudgeTrial(truth, one, made({1}, ""), Inputs(1))));
  EXPECT_THAT(JudgeTrial(truth, one, made({1}, "input"), Inputs(1))->shape_problem, HasSubstr("caller's"));
  EXPECT_THAT(JudgeTrial(truth, one, made({1}, "parameter"), Inputs(1))->shape_problem,
              HasSubstr("a parameter"));
  EXPECT_THAT(JudgeTrial(truth, one, made({}, ""), Inputs(1))->shape_problem, HasSubstr("not a dense"));
  const Truth passes_on = OneCase(made({1}, "input"), Wide({1, 2}));
  EXPECT_FALSE(IsBad(*JudgeTrial(passes_on, passes_on.cases[0], made({1}, "input"), Inputs(1))));
}

TEST(TrialJudge, MayOverflowWherePyTorchDoesAndNowhereElse) {
  const auto numbers = [](const std::vector<double>& values) {
    return HandTree({{"float32", {static_cast<int64_t>(values.size())}, values}});
  };
  Truth truth =
      OneCase(numbers({1, INFINITY, -INFINITY, 2}), HandTree({{"float64", {4}, {1, 1e40, -1e40, 2}}}));
  truth.cases[0].reference_error[0].non_finite = 2;
  const auto refused = [&](const std::vector<double>& values) {
    const Trial trial = *JudgeTrial(truth, truth.cases[0], numbers(values), Inputs(1));
    return trial.leaves[0].distance.non_finite > 0;
  };
  EXPECT_FALSE(refused({1, INFINITY, -INFINITY, 2})) << "PyTorch's own answer";
  EXPECT_TRUE(refused({1, INFINITY, INFINITY, 2})) << "another sign";
  EXPECT_TRUE(refused({1, NAN, -INFINITY, 2}));
  EXPECT_TRUE(refused({INFINITY, INFINITY, -INFINITY, 2})) << "PyTorch is finite there";
}

TEST(TrialJudge, AnOverflowIsToldFromOtherMistakes) {
  Trial trial;
  trial.leaves.resize(2);
  EXPECT_FALSE(Overflows(trial)) << "nothing is wrong";
  trial.leaves[1].distance.non_finite = 3;
  EXPECT_TRUE(Overflows(trial));
  trial.leaves[0].distance.relative = 1;  // finite and wrong
  EXPECT_FALSE(Overflows(trial));
  trial.leaves[0].distance.relative = 0;
  trial.leaves[1].distance.poisoned = 1;
  EXPECT_FALSE(Overflows(trial));
  trial.leaves[1].distance.poisoned = 0;
  trial.input_modified = true;
  EXPECT_FALSE(Overflows(trial));
}

}  // namespace
}  // namespace hone

#include "evaluation/truth.h"

#include <gtest/gtest.h>

#include <cmath>

#include "evaluation/truth_fixtures.h"

namespace hone {
namespace {

Truth WithError(double off) {
  Truth truth;
  truth.instances.resize(1);
  truth.cases.push_back(HandCase("default#1", 0, HandTree({{"float32", {1}, {1}}}, "input"),
                                 HandTree({{"float32", {2}, {1 + off, 1}}}),
                                 HandTree({{"float64", {2}, {1, 1}}})));
  return truth;
}

constexpr double kUlp = 0x1p-23;

TEST(Truth, TheLimitIsTwicePyTorchsOwnError) {
  const Truth truth = WithError(1e-3);
  EXPECT_NEAR(truth.LimitFor(0, 0).relative, 2 * truth.WidestReferenceError(), 1e-12);
  EXPECT_EQ(truth.WidestLimit(), truth.LimitFor(0, 0).relative);
}

TEST(Truth, TheLimitIsAtLeastAFewUlp) {
  const Truth truth = WithError(0);
  EXPECT_DOUBLE_EQ(truth.LimitFor(0, 0).relative, 4 * kUlp);
  EXPECT_DOUBLE_EQ(truth.LimitFor(0, 0).worst, 32 * kUlp);
}

TEST(Truth, ALargeElementMayBeOffByAFewOfItsOwnUlp) {
  // One element is 8 times the root mean square. 4 ulp of it are 32 ulp of a typical element, which equals
  // the floor for every element. At 16 times it is 64.
  const auto with_peak = [](size_t elements) {
    std::vector<double> values(elements);
    values[0] = 1;
    const std::vector<int64_t> shape = {static_cast<int64_t>(elements)};
    Truth truth;
    truth.instances.resize(1);
    truth.cases.push_back(HandCase("default#1", 0, HandTree({{"float32", {1}, {1}}}, "input"),
                                   HandTree({{"float32", shape, values}}),
                                   HandTree({{"float64", shape, values}})));
    return truth.LimitFor(0, 0).worst;
  };
  EXPECT_DOUBLE_EQ(with_peak(64), 32 * kUlp);
  EXPECT_DOUBLE_EQ(with_peak(256), 64 * kUlp);
}

TEST(Truth, PrecisionReplacesTheLimit) {
  Truth truth = WithError(1e-3);
  truth.rule.precision = "fp32";
  EXPECT_DOUBLE_EQ(truth.LimitFor(0, 0).relative, 16 * kUlp);
  truth.rule.precision = "bf16";
  EXPECT_DOUBLE_EQ(truth.LimitFor(0, 0).relative, 2e-2);
}

TEST(Truth, AStressCaseIsAccurateWhileItsErrorIsNearTheUsual) {
  const Truth truth = WithError(1e-6);
  EXPECT_TRUE(truth.IsAccurate(WithError(1e-5).cases[0]));
  EXPECT_FALSE(truth.IsAccurate(WithError(1e-3).cases[0]));
}

TEST(Truth, ACaseWithChangedInputsHasALimitOfItsOwn) {
  Truth truth = WithError(0);
  Case changed = std::move(WithError(1e-3).cases[0]);
  changed.change = "scale";
  truth.cases.push_back(std::move(changed));
  EXPECT_DOUBLE_EQ(truth.LimitFor(0, 0).relative, 4 * kUlp) << "the others keep theirs";
  EXPECT_GT(truth.LimitOf(truth.cases[1], 0).relative, 1e-3);
  EXPECT_DOUBLE_EQ(truth.LimitOf(truth.cases[0], 0).relative, 4 * kUlp);
}

TEST(Truth, DoubtsAReferenceThatIsOffByMoreThanAHundredth) {
  Truth accurate = WithError(5e-3);
  accurate.CheckAccuracy();
  EXPECT_TRUE(accurate.doubts.empty());
  Truth rough = WithError(5e-2);
  rough.CheckAccuracy();
  ASSERT_EQ(rough.doubts.size(), 1U);
  EXPECT_EQ(rough.doubts[0].kind, DoubtKind::kInaccurateReference);
  EXPECT_NE(rough.doubts[0].detail.find("get_stress"), std::string::npos);
}

TEST(Truth, NoLimitExceedsWhatCanBeJudgedAtAll) {
  EXPECT_FALSE(WithError(5e-3).IsAccurate(WithError(5e-2).cases[0])) << "ten times the usual, but over 1e-2";
  EXPECT_LE(WithError(5e-2).LimitFor(0, 0).relative, 1e-2);
}

Case Scalar(const std::string& id, double truth, double error) {
  return HandCase(id, 0, HandTree({{"float32", {1}, {1}}}, "input"),
                  HandTree({{"float32", {1}, {truth + error}}}), HandTree({{"float64", {1}, {truth}}}));
}

TEST(Truth, ASumThatNearlyCancelsIsMeasuredByTheUsualSize) {
  Truth truth;
  truth.instances.resize(1);
  truth.cases.push_back(Scalar("default#1", 128, 0));
  truth.cases.push_back(Scalar("default#2", 0.125, 0x1p-16));
  EXPECT_DOUBLE_EQ(truth.NormShare(0, 0, truth.cases[0].reference_error[0]), 1);
  EXPECT_DOUBLE_EQ(truth.NormShare(0, 0, truth.cases[1].reference_error[0]), 0.125 / 128);
  EXPECT_LT(truth.LimitFor(0, 0).relative, 1e-6) << "not the 1e-4 of the small one";
  Distance many = truth.cases[1].reference_error[0];
  many.elements = 1000;
  EXPECT_DOUBLE_EQ(truth.NormShare(0, 0, many), 1) << "the norm of many elements is no accident";
}

TEST(Truth, OtherRulesAreSaidToBeWeaker) {
  LimitRule rule;
  EXPECT_FALSE(rule.is_weaker());
  rule.error_factor = 10;
  EXPECT_TRUE(rule.is_weaker());
  EXPECT_EQ(DescribeRule(rule), "10 times PyTorch's own error against float64");
  rule.atol = 0.01;
  EXPECT_EQ(DescribeRule(rule), "|y - PyTorch| <= 0.01 + 0 * |PyTorch|");
}

TEST(Truth, ErrorFactorWidensTheLimit) {
  Truth truth = WithError(1e-3);
  const double usual = truth.LimitFor(0, 0).relative;
  truth.rule.error_factor = 10;
  EXPECT_NEAR(truth.LimitFor(0, 0).relative, 5 * usual, 1e-9);
}

TEST(Truth, ARegimeWithNewInfinitiesIsNotUsable) {
  const Truth truth = WithError(0);
  Case infinite =
      HandCase("stress#1", 0, HandTree({{"float32", {1}, {1}}}, "input"),
               HandTree({{"float32", {2}, {INFINITY, 1}}}), HandTree({{"float64", {2}, {INFINITY, 1}}}));
  EXPECT_FALSE(truth.IsAccurate(infinite));
}

}  // namespace
}  // namespace hone

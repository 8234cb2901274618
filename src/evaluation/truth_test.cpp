#include "evaluation/truth.h"

#include <gtest/gtest.h>

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

TEST(Truth, PrecisionReplacesTheLimit) {
  Truth truth = WithError(1e-3);
  truth.precision = "fp32";
  EXPECT_DOUBLE_EQ(truth.LimitFor(0, 0).relative, 16 * kUlp);
  truth.precision = "bf16";
  EXPECT_DOUBLE_EQ(truth.LimitFor(0, 0).relative, 2e-2);
}

TEST(Truth, AStressCaseIsAccurateWhileItsErrorIsNearTheUsual) {
  const Truth truth = WithError(1e-6);
  EXPECT_TRUE(truth.IsAccurate(WithError(1e-5).cases[0]));
  EXPECT_FALSE(truth.IsAccurate(WithError(1e-3).cases[0]));
}

}  // namespace
}  // namespace hone

#include "evaluation/repeats.h"

#include <gtest/gtest.h>

#include <cmath>

#include "evaluation/truth_fixtures.h"

namespace hone {
namespace {

Repeats Compared(const TensorTree& first, const TensorTree& answer) {
  Repeats repeats;
  EXPECT_TRUE(CompareRepeat(first, answer, &repeats).ok());
  return repeats;
}

TEST(CompareRepeat, CountsAnswersThatDiffer) {
  const TensorTree first = HandTree({{"float32", {2}, {3, 4}}});
  EXPECT_EQ(Compared(first, first).distinct, 0);
  EXPECT_EQ(Compared(first, first).spread, 0);
  const Repeats moved = Compared(first, HandTree({{"float32", {2}, {3, 4.5}}}));
  EXPECT_EQ(moved.distinct, 1);
  EXPECT_NEAR(moved.spread, 0.1, 1e-6);
}

TEST(CompareRepeat, AnotherFormOrANumberThatIsNoneIsAsFarAsAnything) {
  const TensorTree first = HandTree({{"float32", {2}, {3, 4}}});
  for (const TensorTree& other : {HandTree({{"float32", {1}, {3}}}), HandTree({{"float64", {1}, {3}}}),
                                  HandTree({{"float32", {2}, {3, 4}}, {"float32", {1}, {0}}}),
                                  HandTree({{"float32", {2}, {3, NAN}}})}) {
    EXPECT_EQ(Compared(first, other).distinct, 1);
    EXPECT_EQ(Compared(first, other).spread, 1);
  }
}

TEST(CompareRepeat, KeepsTheLargestSpread) {
  const TensorTree first = HandTree({{"float32", {1}, {4}}});
  Repeats repeats;
  EXPECT_TRUE(CompareRepeat(first, HandTree({{"float32", {1}, {6}}}), &repeats).ok());
  EXPECT_TRUE(CompareRepeat(first, HandTree({{"float32", {1}, {5}}}), &repeats).ok());
  EXPECT_EQ(repeats.distinct, 2);
  EXPECT_NEAR(repeats.spread, 0.5, 1e-6);
}

TEST(SpreadLimit, IsAFewUlpAndGrowsWithThePrecisionOfTheTask) {
  const auto limit = [](double error) {
    Truth truth;
    truth.instances.resize(1);
    truth.cases.push_back(HandCase("default#1", 0, HandTree({{"float32", {1}, {1}}}),
                                   HandTree({{"float32", {1}, {1 + error}}}),
                                   HandTree({{"float64", {1}, {1}}})));
    return SpreadLimit(truth, truth.cases[0]);
  };
  EXPECT_NEAR(limit(0), 8 * Epsilon(Dtype::kF32), 1e-9);
  EXPECT_GT(limit(1e-3), limit(0));
}

}  // namespace
}  // namespace hone

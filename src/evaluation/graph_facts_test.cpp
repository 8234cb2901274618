#include "evaluation/graph_facts.h"

#include <gtest/gtest.h>

#include "evaluation/truth_fixtures.h"

namespace hone {
namespace {

Case Answer(double pytorch, double truth) {
  return HandCase("default#1", 0, HandTree({{"float32", {1}, {0}}}, "input"),
                  HandTree({{"float32", {2}, {pytorch, 1}}}), HandTree({{"float64", {2}, {truth, 1}}}));
}

TEST(AnswersAgree, WhereTheyDifferByLessThanPyTorchsOwnError) {
  EXPECT_TRUE(*AnswersAgree(Answer(2, 2), Answer(2, 2)));
  EXPECT_TRUE(*AnswersAgree(Answer(2.001, 2), Answer(2, 2.0005)));
}

TEST(AnswersAgree, NotWhereTheyDifferByMore) {
  EXPECT_FALSE(*AnswersAgree(Answer(2, 2), Answer(2.0005, 2.0005)));
  EXPECT_FALSE(*AnswersAgree(Answer(2, 2), Answer(3, 3)));
}

TEST(AnswersAgree, ComparesValuesNearZeroWithTheErrorOfTheSingleRun) {
  // The mean of normalised values is 0 except for rounding, which differs between draws.
  const auto mean = [](double pytorch, double truth) {
    return HandCase("default#1", 0, HandTree({{"float32", {1}, {0}}}, "input"),
                    HandTree({{"float32", {1}, {pytorch}}}), HandTree({{"float64", {1}, {truth}}}));
  };
  EXPECT_TRUE(*AnswersAgree(mean(3e-9, 2e-18), mean(-1e-9, -5e-18)));
  EXPECT_FALSE(*AnswersAgree(mean(3e-9, 3e-9), mean(-1e-9, -1e-9)));
}

TEST(AnswersAgree, NotWhereShapesDiffer) {
  Case other = Answer(2, 2);
  other.truth = HandTree({{"float64", {1, 2}, {2, 1}}});
  EXPECT_FALSE(*AnswersAgree(Answer(2, 2), other));
}

}  // namespace
}  // namespace hone

#include "report/policy_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"
#include "report/report_fixture.h"
#include "store/run_result.h"

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// A run whose best grows from 1 to `best` in even steps over this many calls, each of one cent.
PolicyRun RunOf(int64_t id, const std::string& task, double best, int calls, uint64_t seed = 0) {
  PolicyRun one;
  one.run.id = id;
  one.run.task = task;
  one.run.task_sha256 = "sha of " + task;
  one.run.device = "H200";
  one.run.status = "done";
  one.run.result = best > 1 ? kAccepted : kKeptPyTorch;
  one.run.proposer = "llm";
  one.run.options = DumpJson(Json{{"search", "classic"}, {"search_seed", std::to_string(seed)}});
  for (int call = 1; call <= calls; ++call) {
    one.curve.best.push_back(1 + (best - 1) * call / calls);
    one.curve.usd.push_back(0.01 * call);
  }
  one.usage.calls = calls;
  one.usage.cost_usd = 0.01 * calls;
  return one;
}

PolicySide SideOf(const std::string& name, const std::vector<double>& bests, int calls, int64_t first_id) {
  PolicySide side{name, {}};
  for (size_t i = 0; i < bests.size(); ++i)
    side.runs.push_back(
        RunOf(first_id + static_cast<int64_t>(i), "task" + std::to_string(i), bests[i], calls));
  return side;
}

const PolicyPoint& EndOf(const PolicyComparison& compared) {
  return compared.points.back();
}

std::string TextOf(const PolicyComparison& compared, ReportLanguage language = ReportLanguage::kEnglish) {
  return ComparisonDocument(compared, language).Text(kOneLine);
}

TEST(PairedRatio, ATaskCountsOnceHoweverManyRunsItHas) {
  const PairedRatio ratio = RatioOf({{{1}, {2}}, {{1, 1, 1}, {8, 8, 8}}});
  EXPECT_DOUBLE_EQ(ratio.ratio, 4);
  EXPECT_FALSE(ratio.has_interval());
}

TEST(PairedRatio, FewPairsGiveNoIntervalAndNoAnswer) {
  // Four tasks agree clearly.
  EXPECT_FALSE(RatioOf({{{1}, {9}}, {{1}, {9}}, {{1}, {9}}, {{1}, {9}}}).b_is_better());
  // Many pairs, but one task has too few runs to estimate their scatter.
  const std::vector<double> ten(10, 1.5);
  EXPECT_FALSE(RatioOf({{ten, ten}, {{1, 1}, {9, 9}}}).has_interval());
  EXPECT_EQ(RatioOf({{ten, ten}}).about, PairedRatio::About::kTheseTasks);
  EXPECT_FALSE(RatioOf({}).has_interval());
}

TEST(PairedRatio, APairIsComparedWithinItselfIfItsRunsBelongTogether) {
  const std::vector<double> a = {1, 2, 4, 8, 16}, b = {1.5, 3.1, 6, 11.8, 24};
  const PairedRatio matched = RatioOf({{a, b, true}});
  const PairedRatio loose = RatioOf({{a, b, false}});
  EXPECT_DOUBLE_EQ(matched.ratio, loose.ratio);
  EXPECT_TRUE(matched.b_is_better());
  EXPECT_FALSE(loose.b_is_better()) << "runs scatter by a factor of sixteen";
}

TEST(PairedRatio, IsTheSameEveryTimeAndItsPrintedEndsDecide) {
  const std::vector<PairedTask> tasks = {{{1}, {1.2}},  {{1}, {1.3}}, {{1}, {1.1}},
                                         {{1}, {1.25}}, {{1}, {1.4}}, {{1}, {1.15}}};
  const PairedRatio once = RatioOf(tasks);
  EXPECT_EQ(once.low, RatioOf(tasks).low);
  EXPECT_TRUE(once.b_is_better());
  EXPECT_NEAR(once.low * 100, std::round(once.low * 100), 1e-9);
  EXPECT_LE(once.low, once.ratio);
  EXPECT_GE(once.high, once.ratio);
  // All slightly above 1, so the printed interval starts at 1.
  const PairedRatio hair = RatioOf(std::vector<PairedTask>(8, {{1}, {1.001}}));
  EXPECT_DOUBLE_EQ(hair.low, 1);
  EXPECT_FALSE(hair.b_is_better());
}

TEST(PolicyComparison, SaysWhichIsBetterWhereTheIntervalLeavesOneOut) {
  const PolicyComparison compared =
      ComparePolicies(SideOf("classic", {1.2, 1.5, 2, 1.1, 3, 1.4}, 8, 1),
                      SideOf("population", {2.1, 2.9, 3.6, 2.0, 6.5, 2.7}, 40, 11));
  EXPECT_EQ(compared.pairs, 6U);
  EXPECT_TRUE(EndOf(compared).ratio.b_is_better());
  EXPECT_EQ(EndOf(compared).ratio.about, PairedRatio::About::kTasksLikeThese);
  EXPECT_THAT(TextOf(compared), HasSubstr("population is better"));
  EXPECT_THAT(TextOf(compared), HasSubstr("6 pairs of runs on the same tasks (6 in all). The 95% intervals "
                                          "speak about tasks like these."));
  EXPECT_THAT(TextOf(compared, ReportLanguage::kChinese), HasSubstr("population 更好"));
  // At the cost of the cheaper side, the other one had not progressed far.
  std::vector<double> headlines;
  for (const PolicyPoint& point : compared.points)
    if (point.headline) headlines.push_back(point.at);
  EXPECT_THAT(headlines, ElementsAre(8, testing::DoubleNear(0.08, 1e-9), 0));
  for (const PolicyPoint& point : compared.points)
    if (point.cost == PolicyPoint::Cost::kCalls && point.at == 8) {
      EXPECT_THAT(point.spent, ElementsAre(6, 6));
      EXPECT_LT(point.ratio.ratio, 1);
      EXPECT_FALSE(point.ratio.b_is_better());
    } else if (point.cost == PolicyPoint::Cost::kCalls && point.at > 8) {
      EXPECT_THAT(point.spent, ElementsAre(0, 6)) << point.at;
    }
}

TEST(PolicyComparison, ClaimsNothingWhereTheIntervalHoldsOne) {
  const PolicyComparison compared = ComparePolicies(SideOf("a", {1.2, 3, 1, 2, 1.5, 1.1}, 8, 1),
                                                    SideOf("b", {2.4, 1.6, 1.1, 1.5, 2.8, 1}, 8, 11));
  EXPECT_FALSE(EndOf(compared).ratio.b_is_better());
  EXPECT_THAT(TextOf(compared), HasSubstr("no difference can be told"));
  EXPECT_THAT(TextOf(compared), Not(HasSubstr("is better")));
  const OrderedJson json = ToJson(compared, ReportLanguage::kEnglish);
  for (const OrderedJson& point : json["points"]) EXPECT_TRUE(point["winner"].is_null());
}

TEST(PolicyComparison, WithTooFewPairsGivesTheFiguresAndNoInterval) {
  const PolicyComparison compared =
      ComparePolicies(SideOf("a", {2, 2, 2}, 8, 1), SideOf("b", {4, 4, 4}, 8, 11));
  const std::string text = TextOf(compared);
  EXPECT_THAT(text, HasSubstr("In the end, whatever it cost: a 2.00x, b 4.00x; ratio 2.00: too few pairs"));
  EXPECT_THAT(text, HasSubstr("3 pairs of runs on the same tasks (3 in all). No interval can be told"));
  EXPECT_THAT(text, Not(HasSubstr("is better")));
  const OrderedJson json = ToJson(compared, ReportLanguage::kEnglish);
  EXPECT_TRUE(json["points"][0]["ci95"].is_null());
  EXPECT_EQ(json["points"][0]["result"].get<std::string>(), "too_few");
}

TEST(PolicyComparison, RunsOfOneTaskArePairedByTheirSeedIfAllHaveAPartner) {
  PolicySide a{"a", {}}, b{"b", {}};
  const std::vector<double> bests = {1, 2, 4, 8, 16};
  for (size_t i = 0; i < bests.size(); ++i) {
    const auto id = static_cast<int64_t>(i);
    a.runs.push_back(RunOf(1 + id, "one", bests[i], 10, 100 + i));
    b.runs.push_back(RunOf(20 - id, "one", bests[i] * (1.5 + 0.01 * static_cast<double>(i)), 10, 100 + i));
  }
  b.runs.push_back(RunOf(30, "one", 500, 10, 7));
  const PolicyComparison by_seed = ComparePolicies(a, b);
  EXPECT_EQ(by_seed.by_seed, 1U);
  EXPECT_EQ(by_seed.pairs, 5U);
  EXPECT_NEAR(EndOf(by_seed).ratio.ratio, 1.52, 0.01);
  EXPECT_TRUE(EndOf(by_seed).ratio.b_is_better());
  ASSERT_EQ(by_seed.left_out.size(), 1U);
  EXPECT_EQ(by_seed.left_out[0].run, "R30");
  EXPECT_EQ(by_seed.left_out[0].why, "no_partner");
  // Seeds were drawn for each run, so no runs are paired and all count.
  for (PolicyRun& one : b.runs) one.run.options = DumpJson(Json{{"search_seed", std::to_string(one.run.id)}});
  const PolicyComparison loose = ComparePolicies(a, b);
  EXPECT_EQ(loose.by_seed, 0U);
  EXPECT_TRUE(loose.left_out.empty());
  EXPECT_FALSE(EndOf(loose).ratio.b_is_better());
}

TEST(PolicyComparison, RunsThatFoundNothingOutAreLeftOutAndNamed) {
  PolicySide a = SideOf("a", {2, 2}, 4, 1), b = SideOf("b", {3, 3}, 4, 11);
  a.runs[1].run.result = kRunFailed;
  b.runs.push_back(RunOf(13, "elsewhere", 2, 4));
  b.runs.push_back(RunOf(14, "task0", 2, 4));
  b.runs.back().run.result = "";
  const PolicyComparison compared = ComparePolicies(a, b);
  EXPECT_EQ(compared.pairs, 1U);
  EXPECT_EQ(compared.tasks, 1U);
  const std::string text = TextOf(compared);
  for (const char* line : {"There is one pair of runs.", "R2: failed", "R14: not finished",
                           "R12: its task is on one side only", "R13: its task is on one side only"})
    EXPECT_THAT(text, HasSubstr(line));
  EXPECT_THAT(text, HasSubstr("not finished"));
}

TEST(PolicyComparison, SaysWhatEachSideSpentAndHowItsRunsEnded) {
  PolicySide a = SideOf("a", {2, 1, 1.5}, 4, 1);
  const PolicySide b = SideOf("b", {3, 3, 2}, 9, 11);
  a.runs[0].run.options = DumpJson(Json{{"search", "population"}});
  const OrderedJson json = ToJson(ComparePolicies(a, b), ReportLanguage::kEnglish);
  EXPECT_EQ(json["sides"][0]["calls"].get<int64_t>(), 12);
  EXPECT_EQ(json["sides"][1]["calls_median"].get<double>(), 9);
  EXPECT_NEAR(json["sides"][1]["usd"].get<double>(), 0.27, 1e-9);
  EXPECT_EQ(
      DumpJson(json["sides"][0]["results"]),
      R"({"accepted":2,"kept_pytorch":1,"none_right":0,"cannot_judge":0,"nothing_tried":0,"failed":0})");
  EXPECT_EQ(json["sides"][0]["settings"]["search"].get<std::string>(), "classic | population")
      << "a side that is a mixture shows it";
}

TEST(PolicyComparison, DollarsAreComparedOnlyWhereEveryPriceIsKnown) {
  PolicySide a = SideOf("a", {2, 2}, 4, 1);
  const PolicySide b = SideOf("b", {3, 3}, 4, 11);
  a.runs[0].curve.priced = false;
  a.runs[0].usage.price_known = false;
  const PolicyComparison compared = ComparePolicies(a, b);
  for (const PolicyPoint& point : compared.points) EXPECT_NE(point.cost, PolicyPoint::Cost::kDollars);
  EXPECT_THAT(TextOf(compared), HasSubstr("Dollars are not compared"));
  EXPECT_TRUE(ToJson(compared, ReportLanguage::kEnglish)["sides"][0]["usd"].is_null());
}

TEST(PolicyComparison, ARunThatWasStoppedSaysNothingAboutWhatItDidNotSpend) {
  PolicySide a = SideOf("a", {2, 2, 2, 2, 2, 2}, 10, 1);
  const PolicySide b = SideOf("b", {4, 4, 4, 4, 4, 4}, 40, 11);
  for (PolicyRun& one : a.runs) one.run.status = "stopped";
  const PolicyComparison stopped = ComparePolicies(a, b);
  for (const PolicyPoint& point : stopped.points)
    if (point.cost != PolicyPoint::Cost::kAll) {
      EXPECT_EQ(point.pairs, 6U);
      EXPECT_LE(point.at, point.cost == PolicyPoint::Cost::kCalls ? 10 : 0.1) << "nobody knows of more";
    }
  EXPECT_EQ(EndOf(stopped).pairs, 6U);
  a.runs[0].run.status = "done";  // it had nothing left to try, so its best is final
  const PolicyComparison one_ended = ComparePolicies(a, b);
  bool seen = false;
  for (const PolicyPoint& point : one_ended.points)
    if (point.cost == PolicyPoint::Cost::kCalls && point.at == 20) {
      seen = true;
      EXPECT_EQ(point.pairs, 1U);
      EXPECT_THAT(point.spent, ElementsAre(0, 1));
      EXPECT_FALSE(point.ratio.has_interval());
    }
  EXPECT_TRUE(seen);
}

TEST(PolicyComparison, NoCommonTaskAndNoCallAreNoError) {
  PolicySide a = SideOf("a", {2}, 0, 1);
  PolicySide b = SideOf("b", {3}, 0, 11);
  const PolicyComparison without_calls = ComparePolicies(a, b);
  ASSERT_EQ(without_calls.points.size(), 1U) << "the end alone";
  b.runs[0].run.task = "another";
  EXPECT_THAT(TextOf(ComparePolicies(a, b)), HasSubstr("no task has a finished run on both sides"));
}

}  // namespace
}  // namespace hone

#include "report/plots/plots.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "base/text.h"
#include "report/plots/row_canvas.h"
#include "report/report_fixture.h"
#include "store/run_result.h"

namespace hone {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

RunFigures Fixture() {
  const RunData data = FixtureRun();
  return FiguresOf(data.story, data.calls);
}

// A coordinate of the first shape that matches.
double NumberIn(const std::string& text, const std::string& pattern) {
  std::smatch match;
  return std::regex_search(text, match, std::regex(pattern)) ? std::stod(match[1]) : -1;
}

TEST(Figures, TheStoreSaysItAllOnce) {
  const RunFigures run = Fixture();
  ASSERT_EQ(run.candidates.size(), 5u);  // PyTorch itself is not a candidate
  EXPECT_EQ(run.candidates[1].key, "seed0.repair1");
  EXPECT_TRUE(run.candidates[1].best);
  EXPECT_EQ(run.candidates[1].us, 100);
  ASSERT_EQ(run.ladder.size(), 2u);
  EXPECT_EQ(run.ladder[0].name, "compile");
  EXPECT_EQ(run.ladder[0].us, 400);
  EXPECT_EQ(run.ladder_beside, "seed0.repair1");
  EXPECT_TRUE(run.recurrent);
  EXPECT_EQ(run.serial_chain, 100);
  ASSERT_EQ(run.calls.size(), 3u);
  EXPECT_EQ(run.calls[1].at_s, 70);
}

TEST(Figures, BrokenRecordsGiveFewerFiguresAndNoCrash) {
  RunData data = FixtureRun();
  data.story.run.card = "not json";
  for (CandidateRecord& one : data.story.candidates) one.json = "[1, \"x\", {\"measurement\": 3}]";
  data.calls[0].created = "yesterday";
  const RunFigures run = FiguresOf(data.story, data.calls);
  EXPECT_EQ(run.floor_us, 0);
  EXPECT_TRUE(run.ladder.empty());
  EXPECT_FALSE(RooflinePlot(run));
  EXPECT_TRUE(SpeedupPlot(run));
}

TEST(Figures, TimesAreReadAsUtc) {
  EXPECT_EQ(SecondsOf("1970-01-02T00:00:01Z"), 86401);
  EXPECT_FALSE(SecondsOf("now"));
  EXPECT_FALSE(SecondsOf("1970-01-02T00:00:01Zx"));
}

TEST(SpeedupPlot, MarksStandAtTheirSpeedUpWithTheirInterval) {
  const Plot plot = *SpeedupPlot(Fixture());
  ASSERT_EQ(plot.drawings.size(), 2u);
  const std::string svg = plot.drawings[0].Inline();
  // Logarithmic, because 0.45x to 4.4x is a wide range. Equal factors are equal distances: 4 is as far from 2
  // as 1 is from 0.5.
  const double one = NumberIn(svg, "<line class=\"rule\" x1=\"([0-9.]+)\"");
  const double half = NumberIn(svg, "<circle class=\"same\" cx=\"([0-9.]+)\"");
  const double four = NumberIn(svg, "<circle class=\"best\" cx=\"([0-9.]+)\"");
  ASSERT_GT(half, 0);
  EXPECT_NEAR((four - one) / (one - half), 2, 0.01);
  const double low = NumberIn(svg, "<path class=\"best stroke\" d=\"M([0-9.]+) ");
  EXPECT_NEAR((four - low) / (four - one), std::log(1 / 0.9) / std::log(4), 0.01);
  EXPECT_THAT(svg, HasSubstr("4.00\u00d7 [3.60, 4.40]"));
  EXPECT_THAT(svg, HasSubstr(">wrong-output<"));
  EXPECT_THAT(svg, HasSubstr(">seed_repair<"));
}

TEST(SpeedupPlot, ItsTableHasEveryCandidate) {
  const Plot plot = *SpeedupPlot(Fixture());
  ASSERT_EQ(plot.rows.size(), 5u);
  EXPECT_THAT(plot.rows[1], ElementsAre("seed0.repair1", "seed_repair", "accepted", "faster", "4.00\u00d7",
                                        "3.600", "4.400", "6.00\u00d7"));
}

TEST(SpeedupPlot, ARunWithThousandsIsDrawnInPartAndSaysSo) {
  RunFigures run = Fixture();
  while (run.candidates.size() < 3000) run.candidates.push_back(run.candidates[1]);
  const Plot plot = *SpeedupPlot(run);
  EXPECT_LT(plot.drawings[0].height(), 3000);
  EXPECT_THAT(plot.description, HasSubstr("The first 80 of 3000"));
  EXPECT_EQ(plot.rows.size(), 3000u);
}

TEST(RooflinePlot, TheFloorLiesOnTheRoofAndAllStandAtTheTasksIntensity) {
  const Plot plot = *RooflinePlot(Fixture());
  const std::string svg = plot.drawings[0].Inline();
  const double at = NumberIn(svg, "<line class=\"rule\" x1=\"([0-9.]+)\"");
  EXPECT_EQ(NumberIn(svg, "<circle class=\"best\" cx=\"([0-9.]+)\""), at);
  EXPECT_EQ(NumberIn(svg, "<path class=\"floor\" d=\"M([0-9.]+) "), at);
  // 2e9 FLOP in 20 us: 1e14 FLOP/s, 5 FLOP per byte.
  EXPECT_THAT(plot.rows[0], ElementsAre("floor", "20 \u00b5s", "100T", "100%"));
  EXPECT_THAT(plot.rows[1], ElementsAre("seed0.repair1", "100 \u00b5s", "20T", "20%"));
  EXPECT_THAT(plot.description, HasSubstr("5 FLOP per byte"));
}

TEST(RooflinePlot, WithoutArithmeticThereIsNone) {
  RunFigures run = Fixture();
  run.flops = 0;
  EXPECT_FALSE(RooflinePlot(run));
}

TEST(TimePlot, ARecurrentTaskIsToldPerStepAndSplitWhereAProfileFits) {
  const Plot plot = *TimePlot(Fixture());
  EXPECT_EQ(plot.title, "Time per step");
  EXPECT_THAT(plot.rows[0], ElementsAre("floor", "20 \u00b5s", "0.2 \u00b5s", "1.00\u00d7", "", ""));
  EXPECT_THAT(plot.rows[1], ElementsAre("compile", "400 \u00b5s", "4 \u00b5s", "20.00\u00d7", "", ""));
  EXPECT_THAT(plot.rows[3], ElementsAre("seed0.repair1", "100 \u00b5s", "1 \u00b5s", "5.00\u00d7",
                                        "60 \u00b5s", "10 \u00b5s"));
  const std::string svg = plot.drawings[0].Inline();
  const double own =
      NumberIn(svg, "<rect class=\"bar best\" x=\"[0-9.]+\" y=\"[0-9.]+\" width=\"([0-9.]+)\"");
  const double library =
      NumberIn(svg, "<rect class=\"bar library\" x=\"[0-9.]+\" y=\"[0-9.]+\" width=\"([0-9.]+)\"");
  EXPECT_NEAR(own / library, 6, 0.05);
}

TEST(TimePlot, AProfileThatDoesNotFitIntoTheTimeIsNotDrawn) {
  RunFigures run = Fixture();
  for (CandidateFigure& one : run.candidates) one.own_us = 2 * one.us;
  EXPECT_THAT(TimePlot(run)->drawings[0].Inline(), Not(HasSubstr("bar rest")));
}

TEST(TimePlot, OtherTasksAreToldPerCall) {
  RunFigures run = Fixture();
  run.recurrent = false;
  EXPECT_EQ(TimePlot(run)->title, "Time per call");
}

TEST(TokensPlot, TheTableAddsUpByKindOfCall) {
  const Plot plot = *TokensPlot(Fixture());
  ASSERT_EQ(plot.rows.size(), 3u);
  EXPECT_THAT(plot.rows[0], ElementsAre("seed", "2", "2000", "600", "$0.0082"));
  EXPECT_THAT(plot.rows[2], ElementsAre("all", "3", "3000", "900", "$0.0123"));
}

TEST(TokensPlot, WhereNoModelWasAskedThereIsNone) {
  RunFigures run = Fixture();
  run.calls.clear();
  EXPECT_FALSE(TokensPlot(run));
}

size_t CountOf(const std::string& text, const std::string& word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

TEST(ProgressPlot, TheBestGrowsWithTheCallsThatMadeItAndMoneyBelow) {
  const Plot plot = *ProgressPlot(Fixture());
  // The second call made the candidate with 4x. The one with 1.25x has no call of its own and comes after it.
  ASSERT_EQ(plot.rows.size(), 2u);
  EXPECT_THAT(plot.rows[0], ElementsAre("2", "seed0.repair1", "4.00\u00d7", "$0.0082"));
  EXPECT_THAT(plot.rows[1], ElementsAre("3", "", "", "$0.0123"));
  EXPECT_THAT(plot.drawings[0].Inline(), Not(HasSubstr(">0.5<"))) << "there are no halves of calls";
  EXPECT_THAT(plot.drawings[0].Inline(), HasSubstr("dollars spent"));
  EXPECT_THAT(plot.description, HasSubstr("3 model calls"));
}

TEST(ProgressPlot, WithoutAPriceItShowsTokens) {
  RunFigures run = Fixture();
  run.calls[1].usage.price_known = false;
  const Plot plot = *ProgressPlot(run);
  EXPECT_THAT(plot.rows[1], ElementsAre("3", "", "", "3900"));
  EXPECT_THAT(plot.drawings[0].Inline(), HasSubstr("tokens spent"));
}

TEST(ProgressPlot, WhereNoModelWasCalledItStandsOverCandidates) {
  RunFigures run = Fixture();
  run.calls.clear();
  const Plot plot = *ProgressPlot(run);
  EXPECT_THAT(plot.rows[0], ElementsAre("2", "seed0.repair1", "4.00\u00d7", ""));
  EXPECT_THAT(plot.drawings[0].Inline(), Not(HasSubstr("spent")));
  run.candidates.resize(1);
  EXPECT_FALSE(ProgressPlot(run)) << "one candidate is no progress";
}

TEST(ProgressPlot, AnAgentMakesManyCandidatesInOneCall) {
  RunFigures run = Fixture();
  run.calls.resize(1);
  run.calls[0].call_type = "agent";
  run.calls[0].at_s = 90;
  const Plot plot = *ProgressPlot(run);
  EXPECT_THAT(plot.rows[0], ElementsAre("2", "seed0.repair1", "4.00\u00d7", "$0.0000"));
  EXPECT_THAT(plot.rows[1], ElementsAre("5", "", "", "$0.0041"));
}

TEST(LineagePlot, EveryCandidateIsALinkThatTellsItsVerdictItsSpeedUpAndItsCost) {
  const Plot plot = *LineagePlot(Fixture(), [](const std::string& key) { return "/one?" + key; });
  const std::string svg = plot.drawings[0].Inline();
  EXPECT_EQ(CountOf(svg, "<a class=\"node"), 5u);
  EXPECT_THAT(svg, HasSubstr("href=\"/one?seed0.repair1\""));
  EXPECT_THAT(svg, HasSubstr(">seed0.repair1: accepted, 4.00\u00d7, $0.0041, from seed0<"));
  EXPECT_THAT(svg, HasSubstr(">seed0: rejected: wrong-output, $0.0041<"));
  EXPECT_THAT(svg, HasSubstr("role=\"group\""));
  // The best and its parent, with the line between them.
  EXPECT_EQ(CountOf(svg, "class=\"node way\""), 2u);
  EXPECT_EQ(CountOf(svg, "class=\"edge way\""), 1u);
  EXPECT_EQ(CountOf(svg, "class=\"edge\""), 2u);
  ASSERT_EQ(plot.rows.size(), 5u);
  EXPECT_THAT(plot.rows[1], ElementsAre("seed0.repair1", "seed0", "seed_repair", "per-step", "accepted",
                                        "4.00\u00d7", "$0.0041"));
}

TEST(LineagePlot, AFileHasNoLinksAndIsOnePicture) {
  const std::string svg = LineagePlot(Fixture())->drawings[0].Standalone("");
  EXPECT_EQ(CountOf(svg, "<a "), 0u);
  EXPECT_EQ(CountOf(svg, "<g class=\"node"), 5u);
  EXPECT_THAT(svg, HasSubstr("role=\"img\""));
}

TEST(LineagePlot, WhereNothingWasMadeFromAnotherThereIsNone) {
  RunFigures run = Fixture();
  for (CandidateFigure& one : run.candidates) one.parent.clear();
  EXPECT_FALSE(LineagePlot(run));
  run.candidates.clear();
  EXPECT_FALSE(LineagePlot(run));
}

TEST(LineagePlot, AParentOfAnotherRunIsNamedAndLeadsNowhere) {
  RunFigures run = Fixture();
  run.candidates[0].parent = "from.R3.seed1";
  const Plot plot = *LineagePlot(run);
  EXPECT_EQ(CountOf(plot.drawings[0].Inline(), "edge stray"), 1u);
  EXPECT_EQ(plot.rows[0][1], "from.R3.seed1");
}

TEST(LineagePlot, FiveHundredInAChainKeepTheirDistance) {
  RunFigures run = Fixture();
  const CandidateFigure one = run.candidates[1];
  run.candidates.clear();
  for (int i = 0; i < 500; ++i) {
    CandidateFigure next = one;
    next.key = fmt::format("gen{}", i);
    next.parent = i == 0 ? "" : fmt::format("gen{}", i - 1);
    next.best = i == 499;
    run.candidates.push_back(next);
  }
  const Plot plot = *LineagePlot(run);
  for (const Svg& drawing : plot.drawings) {
    const std::string svg = drawing.Inline();
    std::vector<double> at;
    const std::regex hit("<circle class=\"hit\" cx=\"([0-9.]+)\"");
    for (std::sregex_iterator it(svg.begin(), svg.end(), hit), end; it != end; ++it)
      at.push_back(std::stod((*it)[1]));
    ASSERT_EQ(at.size(), 500u);
    for (size_t i = 1; i < at.size(); ++i) EXPECT_GE(at[i] - at[i - 1], 15.9);
    EXPECT_LE(at.back(), drawing.width());
    EXPECT_EQ(CountOf(svg, "class=\"edge way\""), 499u);
  }
}

TEST(ErrorPlot, AWrongCandidateIsRightOfTheLimit) {
  const Plot plot = *ErrorPlot(Fixture());
  const std::string svg = plot.drawings[0].Inline();
  const double limit = NumberIn(svg, "<line class=\"rule limit\" x1=\"([0-9.]+)\"");
  EXPECT_GT(NumberIn(svg, "<circle class=\"bad\" cx=\"([0-9.]+)\""), limit);
  EXPECT_LT(NumberIn(svg, "<circle class=\"best\" cx=\"([0-9.]+)\""), limit);
  EXPECT_THAT(plot.rows[1], ElementsAre("seed0.repair1", "1.00e-06", "1.00e-05", "0.1", "5.00e-07"));
}

TEST(CandidatePlots, RoundsAndTrialsAreDrawnWhereTheyWereMeasured) {
  const RunFigures run = Fixture();
  const std::vector<Plot> plots = CandidatePlots(run.candidates[1]);
  ASSERT_EQ(plots.size(), 2u);
  EXPECT_THAT(plots[0].rows[0], ElementsAre("candidate", "100 \u00b5s", "98 \u00b5s", "104 \u00b5s", "3"));
  EXPECT_THAT(plots[1].rows[0], ElementsAre("own/0 output", "1.00e-06", "1.00e-05", "2.00e-06", "1.00e-04"));
  EXPECT_TRUE(CandidatePlots(run.candidates[4]).empty());
}

TEST(SuitePlot, BarsBeginAtOneAndAFailedTaskHasNone) {
  SuiteSummary suite;
  SuiteRow won;
  won.run.id = 1;
  won.run.task = "39_GRU";
  won.run.status = "done";
  won.run.best_key = "seed0";
  won.run.vs_best = 3;
  won.run.result = kAccepted;
  won.ci_low = 2.8;
  won.ci_high = 3.2;
  SuiteRow kept;
  kept.run.id = 2;
  kept.run.task = "40_GRU";
  kept.run.status = "done";
  kept.run.result = kKeptPyTorch;
  SuiteRow failed;
  failed.run.id = 3;
  failed.run.task = "41_GRU";
  failed.run.status = "failed";
  failed.run.result = kRunFailed;
  SuiteRow wrong = kept;
  wrong.run.id = 4;
  wrong.run.task = "42_GRU";
  wrong.run.result = kNoneRight;
  suite.rows = {won, kept, failed, wrong};
  suite.geomean_vs_best = std::sqrt(3);
  const Plot plot = *SuitePlot(suite);
  EXPECT_THAT(plot.rows[0], ElementsAre("39_GRU", "seed0", "3.00\u00d7", "2.800", "3.200", "0.00\u00d7"));
  EXPECT_THAT(plot.rows[1], Contains("PyTorch kept"));
  EXPECT_THAT(plot.rows[2], ElementsAre("41_GRU", "failed", "", "", "", ""));
  EXPECT_THAT(plot.rows[3], Contains("none right"));
  const std::string svg = plot.drawings[0].Inline();
  EXPECT_EQ(NumberIn(svg, "<rect class=\"bar ok\" x=\"([0-9.]+)\""),
            NumberIn(svg, "<line class=\"rule\" x1=\"([0-9.]+)\""));
  EXPECT_THAT(svg, HasSubstr("geometric mean 1.73\u00d7"));
  size_t bars = 0;
  for (size_t at = 0; (at = svg.find("<rect class=\"bar", at)) != std::string::npos; ++at) ++bars;
  EXPECT_EQ(bars, 3u);
}

TEST(Plots, NothingAStrangerWroteIsATagAndIdsAreUnique) {
  const RunFigures run = Fixture();
  std::vector<Plot> plots = RunPlots(run);
  plots.push_back(*LineagePlot(run));
  for (const Plot& plot : plots) {
    const std::string svg = plot.drawings[0].Standalone("");
    EXPECT_THAT(svg, Not(HasSubstr("<script"))) << plot.id;
    EXPECT_EQ(svg.find('\0'), std::string::npos);
    EXPECT_THAT(svg, HasSubstr("id=\"" + plot.id + "-wide-title\""));
    EXPECT_THAT(plot.drawings[1].Inline(), HasSubstr("id=\"" + plot.id + "-narrow-title\""));
  }
  EXPECT_THAT(Prefixed(*SpeedupPlot(run), "run-3-").drawings[0].Inline(),
              HasSubstr("id=\"run-3-speedup-wide-title\""));
}

Standing PastRun(int64_t id, double low, double estimate, double high,
                 const std::string& setting = "torch 2") {
  Standing one;
  one.run_id = id;
  one.created = fmt::format("2026-01-{:02}T00:00:00Z", id);
  one.device = "H200";
  one.result = estimate > 0 ? kAccepted : kRunFailed;
  one.best_key = estimate > 0 ? "seed0" : "";
  one.ci_low = low;
  one.vs_best = estimate;
  one.ci_high = high;
  one.setting = estimate > 0 ? setting : "";
  return one;
}

TEST(HistoryPlot, TheBestSoFarIsRankedByTheLowerEndAndAFailedRunIsNotPyTorch) {
  EXPECT_FALSE(HistoryPlot({PastRun(1, 0, 0, 0)}));
  // The third has the highest estimate, but its lower end is below the second's, so it does not lead.
  const Plot plot = *HistoryPlot(
      {PastRun(1, 1.1, 1.2, 1.3), PastRun(2, 1.4, 1.5, 1.6), PastRun(3, 0.9, 2.0, 3.1), PastRun(4, 0, 0, 0)});
  const std::string svg = plot.drawings[0].Inline();
  EXPECT_THAT(svg, HasSubstr("<text class=\"label strong\""));
  EXPECT_THAT(plot.rows, ElementsAre(Contains("R1"), Contains("R2"), Contains("R3"), Contains("failed")));
  EXPECT_THAT(svg, HasSubstr(">failed<"));
  EXPECT_THAT(svg, Not(HasSubstr("PyTorch kept")));
  std::smatch match;
  ASSERT_TRUE(
      std::regex_search(svg, match, std::regex("class=\"rule mean hollow-line[^\"]*\" d=\"([^\"]*)\"")));
  std::vector<std::string> best;
  const std::regex mark("<circle class=\"best\" cx=\"([0-9.]+)\"");
  for (std::sregex_iterator at(svg.begin(), svg.end(), mark), end; at != end; ++at) best.push_back((*at)[1]);
  ASSERT_EQ(best.size(), 2u);
  EXPECT_THAT(match[1].str(), HasSubstr(best[1] + " ")) << "the line goes to the second run's estimate";
  const double third = NumberIn(svg, "<circle class=\"ok\" cx=\"([0-9.]+)\"");
  EXPECT_THAT(match[1].str(), Not(HasSubstr(Coordinate(third)))) << "and stays there";
}

TEST(HistoryPlot, WhatMayNotBeComparedStandsUnderItsOwnHeading) {
  const Plot plot = *HistoryPlot(
      {PastRun(1, 1.1, 1.2, 1.3), PastRun(2, 1.4, 1.5, 1.6, "torch 3"), PastRun(3, 1.2, 1.3, 1.4)});
  const std::string svg = plot.drawings[0].Inline();
  EXPECT_THAT(svg, HasSubstr(">H200; torch 2<"));
  EXPECT_THAT(svg, HasSubstr(">H200; torch 3<"));
}

}  // namespace
}  // namespace hone

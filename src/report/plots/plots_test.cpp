#include "report/plots/plots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "base/text.h"
#include "report/plots/row_canvas.h"
#include "report/report_fixture.h"

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

// A coordinate of the n-th shape that matches.
double NumberIn(const std::string& text, const std::string& pattern) {
  std::smatch match;
  return std::regex_search(text, match, std::regex(pattern)) ? std::stod(match[1]) : -1;
}

TEST(Figures, TheStoreSaysItAllOnce) {
  const RunFigures run = Fixture();
  ASSERT_EQ(run.candidates.size(), 5u);  // PyTorch itself is no candidate
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

TEST(SuitePlot, BarsBeginAtOneAndKeptPyTorchStaysThere) {
  SuiteSummary suite;
  SuiteRow won;
  won.run.id = 1;
  won.run.task = "39_GRU";
  won.run.status = "done";
  won.run.best_key = "seed0";
  won.run.vs_best = 3;
  SuiteRow kept;
  kept.run.id = 2;
  kept.run.task = "40_GRU";
  kept.run.status = "done";
  suite.rows = {won, kept};
  suite.geomean_vs_best = std::sqrt(3);
  const Plot plot = *SuitePlot(suite, {{1, 2.8, 3.2}});
  EXPECT_THAT(plot.rows[0], ElementsAre("39_GRU", "seed0", "3.00\u00d7", "2.800", "3.200", "0.00\u00d7"));
  EXPECT_THAT(plot.rows[1], Contains("PyTorch"));
  const std::string svg = plot.drawings[0].Inline();
  EXPECT_EQ(NumberIn(svg, "<rect class=\"bar ok\" x=\"([0-9.]+)\""),
            NumberIn(svg, "<line class=\"rule\" x1=\"([0-9.]+)\""));
  EXPECT_THAT(svg, HasSubstr("geometric mean 1.73\u00d7"));
}

TEST(Plots, NothingAStrangerWroteIsATagAndIdsAreUnique) {
  const RunFigures run = Fixture();
  for (const Plot& plot : RunPlots(run)) {
    const std::string svg = plot.drawings[0].Standalone("");
    EXPECT_THAT(svg, Not(HasSubstr("<script"))) << plot.id;
    EXPECT_EQ(svg.find('\0'), std::string::npos);
    EXPECT_THAT(svg, HasSubstr("id=\"" + plot.id + "-wide-title\""));
    EXPECT_THAT(plot.drawings[1].Inline(), HasSubstr("id=\"" + plot.id + "-narrow-title\""));
  }
  EXPECT_THAT(Prefixed(*SpeedupPlot(run), "run-3-").drawings[0].Inline(),
              HasSubstr("id=\"run-3-speedup-wide-title\""));
}

}  // namespace
}  // namespace hone

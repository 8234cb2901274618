#include "report/run_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "base/text_wrap.h"

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

CandidateRecord JudgedCandidate(const std::string& key, const std::string& verdict, double vs_best) {
  CandidateRecord one;
  one.key = key;
  one.verdict = verdict;
  one.reason = verdict == "rejected" ? "wrong-output" : "faster";
  one.detail = "element 3 is off\nand more";
  one.vs_best = vs_best;
  one.ci_low = vs_best * 0.9;
  one.ci_high = vs_best * 1.1;
  one.kind = "kernel";
  return one;
}

TEST(RunReport, ALineSaysVerdictSpeedErrorAndKind) {
  const std::string line = CandidateLine(JudgedCandidate("seed0", "accepted", 2), Style(false));
  EXPECT_THAT(line, HasSubstr("seed0"));
  EXPECT_THAT(line, HasSubstr("accepted"));
  EXPECT_THAT(line, HasSubstr("2.00x [1.80, 2.20]"));
  EXPECT_THAT(line, HasSubstr("kernel"));
}

TEST(RunReport, ARejectedOneSaysWhyInOneLine) {
  const std::string line = CandidateLine(JudgedCandidate("seed0", "rejected", 0), Style(false));
  EXPECT_THAT(line, HasSubstr("wrong-output: element 3 is off"));
  EXPECT_THAT(line, Not(HasSubstr("and more")));
}

TEST(RunReport, ALineFitsTheTerminalAndIsWholeInALog) {
  CandidateRecord rejected = JudgedCandidate("seed0.algorithm.repair1.stage_grid", "rejected", 0);
  rejected.detail = std::string(100, 'x') + " " + std::string(40, 'y');
  for (const CandidateRecord& one : {rejected, JudgedCandidate("expert:cuda/cluster", "accepted", 2)}) {
    for (const int width : {20, 60, 80, 120}) {
      const std::string line = CandidateLine(one, Style(false, width, true));
      if (width >= 60) {
        EXPECT_LE(DisplayWidth(line), width) << line;
      }
      EXPECT_THAT(line, HasSubstr(one.verdict));
    }
    EXPECT_EQ(Lines(CandidateLine(one, Style(false, 60, true))).size(), 1u);
  }
  EXPECT_THAT(CandidateLine(rejected, Style(false, 60)), HasSubstr(std::string(40, 'y')));
}

TEST(RunReport, WhatACandidateWroteCannotDriveTheTerminal) {
  CandidateRecord one = JudgedCandidate("seed0\x1b[31m", "rejected", 0);
  one.detail = "\x1b]0;owned\x07text";
  EXPECT_THAT(CandidateLine(one, Style(false)), Not(HasSubstr("\x1b")));
}

TEST(RunReport, AStoryShowsLineageBestAndDecisions) {
  RunStory story;
  story.run.id = 3;
  story.run.task = "39_GRU";
  story.run.name = "run";
  story.run.status = "done";
  story.run.outcome = "seed0.repair1 is 2.00x";
  story.run.best_key = "seed0.repair1";
  story.candidates = {JudgedCandidate("seed0", "rejected", 0),
                      JudgedCandidate("seed0.repair1", "accepted", 2)};
  story.candidates[1].parent_key = "seed0";
  story.decisions = {{"tuning", "now", "tuning", "no tuning of seed0.repair1", "null"},
                     {"look:x", "now", "look", "x: 3 us in the screening run", "null"}};
  const std::string text = RunText(story, Style(false), false);
  EXPECT_THAT(text, HasSubstr("R3 run, done"));
  EXPECT_THAT(text, HasSubstr("candidate        verdict   speed-up [95%]"));
  EXPECT_THAT(text, HasSubstr("    seed0.repair1"));
  EXPECT_THAT(text, HasSubstr("<- best"));
  EXPECT_THAT(text, HasSubstr("no tuning of seed0.repair1"));
  EXPECT_THAT(text, Not(HasSubstr("in the screening run")));
  EXPECT_THAT(RunText(story, Style(false), true), HasSubstr("in the screening run"));
}

TEST(RunReport, TablesAndSentencesFitTheWidthOfAPipe) {
  RunStory story;
  story.candidates = {JudgedCandidate("seed0.algorithm.repair1.stage_grid", "rejected", 0),
                      JudgedCandidate("expert:cuda/persistent_recurrent", "accepted", 2)};
  story.candidates[0].detail = std::string(40, 'x') + " " + std::string(40, 'y');
  story.run.outcome = "the task does not load: " + std::string(40, 'x') + " " + std::string(80, 'y');
  story.decisions = {{"d", "now", "tuning", story.run.outcome, "null"}};
  for (const int width : {60, 80, 120})
    for (const std::string& line : Lines(RunText(story, Style(false, width), false)))
      if (!hone::Contains(line, "  run ")) {
        EXPECT_LE(DisplayWidth(line), width) << line;
      }
}

TEST(RunReport, ARunWithoutARightCandidateIsLabelledSo) {
  RunStory story;
  story.run.status = "done";
  story.run.result = "none_right";
  story.run.outcome = "no candidate was right: 2 wrong-output";
  EXPECT_THAT(RunText(story, Style(false), false), Not(HasSubstr("folder"))) << "imported files have none";
  for (const std::string& text :
       {RunText(story, Style(false), false), RunLine(story.run, false, Style(false)),
        RunListText({{story.run, false, {"nightly"}}}, Style(false))}) {
    EXPECT_THAT(text, HasSubstr("none right"));
    EXPECT_THAT(text, Not(HasSubstr("PyTorch")));
  }
}

TEST(RunReport, AFailedRunIsNeverShownAsPyTorchKept) {
  RunStory story;
  story.run.status = story.run.result = "failed";
  story.run.outcome = "the task does not load";
  EXPECT_THAT(RunText(story, Style(false), false), HasSubstr("result        failed"));
  EXPECT_THAT(RunText(story, Style(false), false), Not(HasSubstr("PyTorch")));
  EXPECT_THAT(RunLine(story.run, false, Style(false)), Not(HasSubstr("PyTorch")));
  EXPECT_THAT(RunListText({{story.run, false, {"nightly"}}}, Style(false)), Not(HasSubstr("PyTorch")));
  EXPECT_THAT(RunListText({{story.run, false, {"nightly"}}}, Style(false)), HasSubstr("nightly"));
  EXPECT_THAT(Lines(RunListText({}, Style(false)))[0], HasSubstr("task"));
}

TEST(RunReport, ARunThatNobodyWorksOnIsCalledKilled) {
  RunRecord run;
  run.status = "running";
  EXPECT_THAT(RunLine(run, true, Style(false)), HasSubstr("killed"));
  EXPECT_THAT(RunLine(run, false, Style(false)), HasSubstr("running"));
}

}  // namespace
}  // namespace hone

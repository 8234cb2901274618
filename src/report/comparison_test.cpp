#include "report/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "pipeline/run_options.h"
#include "report/report_fixture.h"

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

RunStory StoryOf(int64_t id, const std::string& key, double vs_best, double spread) {
  RunStory story;
  story.run.id = id;
  story.run.task = "39_GRU";
  story.run.task_sha256 = "abc";
  story.run.device = "H200";
  story.run.status = "done";
  story.run.options = DumpJson(ToJson(RunOptions{}));
  CandidateRecord one;
  one.key = key;
  one.verdict = "accepted";
  one.reason = "faster";
  one.vs_best = vs_best;
  one.ci_low = vs_best - spread;
  one.ci_high = vs_best + spread;
  one.source = "x = " + key + "\n";
  story.candidates = {one};
  return story;
}

SuiteMember Member(const std::string& task, const Speed& speed, const std::string& key) {
  SuiteMember member;
  member.run.task = task;
  member.run.task_sha256 = "sha of " + task;
  member.run.status = "done";
  member.run.best_key = key;
  member.best = speed;
  return member;
}

TEST(Comparison, ADifferenceIsRealWhereIntervalsAreApart) {
  EXPECT_EQ(Contend(0, {2, 1.9, 2.1}, 1, {2.5, 2.4, 2.6}).result, "real");
  EXPECT_EQ(Contend(0, {2, 1.9, 2.1}, 1, {2.5, 2.4, 2.6}).winner, 1U);
  EXPECT_EQ(Contend(0, {2, 1.9, 2.1}, 1, {2.2, 2.1, 2.3}).result, "not_real");
  EXPECT_EQ(Contend(0, {2, 1.9, 2.1}, 1, {}).result, "untimed");
}

TEST(Comparison, WhatDiffersBetweenRunsComesFirst) {
  const RunComparison compared = CompareRuns({StoryOf(3, "seed0", 2, 0.1), StoryOf(4, "seed1", 4, 0.1)});
  EXPECT_THAT(compared.names, ElementsAre("R3", "R4"));
  EXPECT_TRUE(compared.fields.front().differs);
  EXPECT_FALSE(compared.fields.back().differs);
  ASSERT_EQ(compared.contests.size(), 1U);
  EXPECT_EQ(compared.contests[0].result, "real");
  EXPECT_THAT(ComparisonDocument(compared, ReportLanguage::kEnglish).Text(kOneLine),
              HasSubstr("significant: R4 is faster"));
  EXPECT_THAT(ComparisonDocument(compared, ReportLanguage::kChinese).Text(kOneLine),
              HasSubstr("显著：R4 更快"));
}

TEST(Comparison, ASearchAndSeveralRepliesAreNamedWhereTheyAreInUse) {
  RunStory population = StoryOf(4, "seed1", 4, 0.1);
  RunOptions options;
  options.search = "population";
  options.replies = 3;
  population.run.options = DumpJson(ToJson(options));
  const RunComparison compared = CompareRuns({StoryOf(3, "seed0", 2, 0.1), population});
  for (const ComparedField& field : compared.fields)
    if (field.id == "options") {
      EXPECT_THAT(field.values[0], testing::Not(HasSubstr("search")));
      EXPECT_THAT(field.values[1], HasSubstr("search=\"population\" patience=24 breadth=1 replies=3"));
    }
}

TEST(Comparison, SpeedUpsOfOtherTasksAreNotCompared) {
  RunStory other = StoryOf(4, "seed0", 4, 0.1);
  other.run.task_sha256 = "def";
  other.run.device = "CPU";
  const RunComparison compared = CompareRuns({StoryOf(3, "seed0", 2, 0.1), other});
  EXPECT_EQ(compared.contests[0].result, "other_task");
  EXPECT_FALSE(compared.same_device);
}

TEST(Comparison, CandidatesShowFactsFindingsAndTheDiff) {
  RunStory a = StoryOf(3, "seed0", 2, 0.1);
  RunStory b = StoryOf(4, "seed1", 2.1, 0.1);
  b.candidates[0].findings = R"([{"rule": "missing-sync", "severity": "error"}])";
  const CandidateComparison compared = CompareCandidates(a.run, a.candidates[0], b.run, b.candidates[0]);
  EXPECT_EQ(compared.contest.result, "not_real");
  ASSERT_EQ(compared.findings.size(), 1U);
  EXPECT_THAT(compared.findings[0].values, ElementsAre("0", "1"));
  EXPECT_THAT(compared.diff, HasSubstr("-x = seed0\n+x = seed1\n"));
}

TEST(Comparison, ARunWithoutAnAnswerIsNotShownAsPyTorch) {
  RunStory failed = StoryOf(4, "seed0", 2, 0.1);
  failed.run.status = "failed";
  failed.candidates[0].verdict = "rejected";
  failed.candidates[0].reason = "slower";
  RunStory kept = failed;
  kept.run.status = "done";
  const RunComparison compared = CompareRuns({kept, failed});
  const OrderedJson json = ToJson(compared, ReportLanguage::kEnglish);
  for (const OrderedJson& field : json["fields"]) {
    if (field["id"] == "best") {
      EXPECT_EQ(DumpJson(field["values"]), R"(["pytorch",null])");
    }
    if (field["id"] == "result") {
      EXPECT_EQ(DumpJson(field["values"]), R"(["kept_pytorch","failed"])");
    }
  }
  const std::string text =
      ComparisonDocument(CompareRuns({failed, failed}), ReportLanguage::kEnglish).Text(kOneLine);
  EXPECT_THAT(text, HasSubstr("failed"));
  EXPECT_THAT(text, testing::Not(HasSubstr("PyTorch")));
}

TEST(Comparison, MembersOfASuiteWithoutAnAnswerHaveNone) {
  SuiteMember failed = Member("1_a", {}, "");
  failed.run.status = failed.run.result = "failed";
  SuiteMember kept = Member("1_a", {1, 1, 1}, "");
  kept.run.result = "kept_pytorch";
  const SuiteComparison compared = CompareSuites("monday", {failed}, "tuesday", {kept});
  EXPECT_EQ(DumpJson(ToJson(compared, ReportLanguage::kEnglish)["tasks"][0]["best"]), R"([null,"pytorch"])");
  EXPECT_TRUE(ToJson(compared, ReportLanguage::kEnglish)["geomean_vs_best"].is_null())
      << "no task is in both";
}

TEST(Comparison, ATaskForWhichNoCandidateIsRightIsLabelledSo) {
  RunStory wrong = StoryOf(4, "seed0", 2, 0.1);
  wrong.candidates[0].verdict = "rejected";
  wrong.candidates[0].reason = "wrong-output";
  const RunComparison runs = CompareRuns({wrong, StoryOf(3, "seed0", 2, 0.1)});
  const std::string text = ComparisonDocument(runs, ReportLanguage::kEnglish).Text(kOneLine);
  EXPECT_THAT(text, HasSubstr("none right"));
  EXPECT_THAT(text, testing::Not(HasSubstr("PyTorch")));

  SuiteMember member = Member("1_a", {1, 1, 1}, "");
  member.run.result = "none_right";
  SuiteMember kept = Member("1_a", {1, 1, 1}, "");
  kept.run.result = "kept_pytorch";
  SuiteMember unknown = Member("2_b", {}, "");
  unknown.run.result = "cannot_judge";
  const SuiteComparison suites = CompareSuites("monday", {member, unknown}, "tuesday", {kept, unknown});
  const std::string table = ComparisonDocument(suites, ReportLanguage::kEnglish).Markdown();
  EXPECT_THAT(table,
              HasSubstr(R"(| 1_a | 1.00x \[1.00, 1.00\] none right | 1.00x \[1.00, 1.00\] PyTorch kept |)"));
  EXPECT_THAT(table, HasSubstr("| 2_b | cannot judge | cannot judge |"));
  EXPECT_EQ(DumpJson(ToJson(suites, ReportLanguage::kEnglish)["tasks"][0]["result"]),
            R"(["none_right","kept_pytorch"])");
  EXPECT_DOUBLE_EQ(suites.geomean_a, 1) << "a task without a right candidate counts as 1";
  EXPECT_EQ(suites.common, 1);
}

TEST(Comparison, SuitesAreTalliedOverCommonTasks) {
  const SuiteComparison compared = CompareSuites(
      "monday",
      {Member("1_a", {2, 1.9, 2.1}, "k"), Member("2_b", {1, 1, 1}, ""), Member("3_c", {4, 3.9, 4.1}, "k")},
      "tuesday", {Member("1_a", {8, 7.5, 8.5}, "k"), Member("2_b", {1, 1, 1}, ""), Member("4_d", {}, "")});
  EXPECT_EQ(compared.wins_a, 0);
  EXPECT_EQ(compared.wins_b, 1);
  EXPECT_EQ(compared.not_told_apart, 1);
  EXPECT_EQ(compared.only_one, 2);
  EXPECT_EQ(compared.common, 2);
  EXPECT_DOUBLE_EQ(compared.geomean_a, std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(compared.geomean_b, std::sqrt(8.0));
  EXPECT_EQ(compared.tasks.front().task, "1_a");
  const OrderedJson json = ToJson(compared, ReportLanguage::kEnglish);
  EXPECT_EQ(json["tasks"][0]["contest"]["winner"].get<std::string>(), "tuesday");
}

}  // namespace
}  // namespace hone

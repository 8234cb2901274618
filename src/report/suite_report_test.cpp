#include "report/suite_report.h"
#include "base/json.h"
#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "report/html_report.h"
#include "report/report_fixture.h"

namespace hone {
namespace {

class SuiteReportTest : public testing::Test {
 protected:
  SuiteReportTest() : folder_(*TempFolder::Make("hone-suite-")) {
    store_ = std::move(*RunStore::Open(folder_.path() / "hone.db"));
    suite_.name = "s";
    suite_.id = *store_->AddSuite(suite_);
  }

  void Add(const std::string& task, double vs_best, double vs_eager, const std::string& verdict) {
    RunRecord run;
    run.name = task;
    run.task = task;
    run.status = "done";
    run.suite_id = suite_.id;
    run.best_key = verdict == "accepted" ? "seed0" : "";
    run.vs_best = vs_best;
    run.vs_eager = vs_eager;
    run.id = *store_->AddRun(run);
    CandidateRecord zero;
    zero.run_id = run.id;
    zero.key = "zero";
    zero.phase = "zero";
    zero.verdict = "baseline";
    ASSERT_TRUE(store_->SaveCandidate(zero).ok());
    CandidateRecord candidate;
    candidate.run_id = run.id;
    candidate.key = "seed0";
    candidate.phase = "seed";
    candidate.verdict = verdict;
    candidate.reason = verdict == "rejected" ? "wrong-output" : "";
    ASSERT_TRUE(store_->SaveCandidate(candidate).ok());
  }

  TempFolder folder_;
  std::unique_ptr<RunStore> store_;
  SuiteRecord suite_;
};

TEST_F(SuiteReportTest, SharesAndMeansCountEveryTask) {
  Add("9_b", 4, 8, "accepted");
  Add("10_a", 1.5, 3, "accepted");
  Add("2_c", 1, 0, "rejected");
  Add("3_d", 1, 0, "no_difference");
  const SuiteSummary summary = *Summarise(*store_, suite_);
  ASSERT_EQ(summary.rows.size(), 4u);
  EXPECT_EQ(summary.rows[0].run.task, "2_c") << "in the order of numbers, not of letters";
  EXPECT_EQ(summary.rows[3].run.task, "10_a");
  EXPECT_DOUBLE_EQ(summary.correct, 0.75);
  EXPECT_DOUBLE_EQ(summary.fast_1, 0.5);
  EXPECT_DOUBLE_EQ(summary.fast_2, 0.25);
  EXPECT_DOUBLE_EQ(summary.fast_2_eager, 0.5);
  EXPECT_NEAR(*summary.geomean_vs_best, std::pow(6.0, 0.25), 1e-12) << "PyTorch kept counts as 1";
  EXPECT_THAT(SuiteText(summary, kOneLine), testing::HasSubstr("4 tasks: correct 75%, fast_1 50%"));
  EXPECT_THAT(SuiteCsv(summary), testing::HasSubstr("9_b,done,4,8,true,1,"));
  EXPECT_EQ(SuiteToJson(summary)["rows"].size(), 4u);
  // PyTorch is what the user of 2_c keeps, but its result has a name of its own everywhere.
  const std::string text = SuiteText(summary, kOneLine);
  const size_t wrong = text.find("2_c"), kept = text.find("3_d");
  ASSERT_LT(wrong, kept);
  EXPECT_THAT(text.substr(wrong, kept - wrong), testing::HasSubstr("none right"));
  EXPECT_THAT(text.substr(wrong, kept - wrong), testing::Not(testing::HasSubstr("PyTorch")));
  EXPECT_THAT(text.substr(kept), testing::HasSubstr("PyTorch kept"));
  EXPECT_THAT(SuiteCsv(summary), testing::ContainsRegex("2_c,done,1,1,false,1,.*,2_c,none_right,0\n"));
  EXPECT_THAT(SuiteCsv(summary), testing::ContainsRegex("3_d,done,1,1,true,1,.*,3_d,kept_pytorch,0\n"));
  EXPECT_EQ(SuiteToJson(summary)["rows"][0]["result"], "none_right");
  EXPECT_EQ(SuiteToJson(summary)["rows"][1]["result"], "kept_pytorch");
}

TEST_F(SuiteReportTest, OneTaskIsNotOneTasks) {
  Add("1_a", 2, 3, "accepted");
  EXPECT_THAT(SuiteText(*Summarise(*store_, suite_), kOneLine), testing::HasSubstr("1 task: correct 100%"));
}

TEST_F(SuiteReportTest, MechanicalRepairsOfAllTasksAreAddedUp) {
  Add("1_a", 2, 3, "accepted");
  Add("2_b", 1, 0, "rejected");
  EXPECT_THAT(SuiteText(*Summarise(*store_, suite_), kOneLine), testing::Not(testing::HasSubstr("mended")));
  EXPECT_TRUE(SuiteToJson(*Summarise(*store_, suite_))["mending"].is_null());
  for (const char* task : {"1_a", "2_b"}) {
    CandidateRecord mended;
    mended.run_id = store_->FindRun(task)->id;
    mended.key = "seed0.mended";
    mended.parent_key = "seed0";
    mended.phase = "mended";
    mended.verdict = task[0] == '1' ? "accepted" : "rejected";
    ASSERT_TRUE(store_->SaveCandidate(mended).ok());
    ASSERT_TRUE(store_
                    ->SaveDecision(mended.run_id, {"seed0.mended", "", "mended", "",
                                                   R"([{"rule": "syntax"}, {"rule": "unmasked-access"}])"})
                    .ok());
  }
  const SuiteSummary summary = *Summarise(*store_, suite_);
  EXPECT_THAT(SuiteText(summary, kOneLine),
              testing::HasSubstr("mechanical repair: 2 candidates mended, 1 of them right, 1 model call "
                                 "saved; fixes: syntax 2, unmasked-access 2\n"));
  const SuiteData data = *ReadSuiteData(*store_, suite_);
  EXPECT_THAT(SuiteHtml(data), testing::HasSubstr("2 candidates mended, 1 of them right"));
  EXPECT_THAT(SuiteMarkdown(data), testing::HasSubstr("Mechanical repair: 2 candidates mended"));
  const OrderedJson json = SuiteToJson(summary);
  EXPECT_EQ(json["mending"]["mended"], 2);
  EXPECT_EQ(json["rows"][0]["mending"]["right"], 1);
  EXPECT_EQ(json["rows"][1]["mending"]["right"], 0);
}

TEST_F(SuiteReportTest, DegenerateTasksAreNamedAndASecondMeanLeavesThemOut) {
  Add("1_a", 2, 3, "accepted");
  Add("2_b", 8, 27, "accepted");
  const SuiteSummary before = *Summarise(*store_, suite_);
  EXPECT_EQ(before.degenerate, 0);
  EXPECT_EQ(before.geomean_vs_best_without_degenerate, before.geomean_vs_best);
  EXPECT_THAT(SuiteText(before, kOneLine), testing::Not(testing::HasSubstr("degenerate")));
  RunRecord run = *store_->FindRun("2_b");
  run.degenerate = "the output does not depend on the inputs (cancel_self: x - x is 0)";
  ASSERT_TRUE(store_->UpdateRun(run).ok());
  const SuiteSummary summary = *Summarise(*store_, suite_);
  EXPECT_EQ(summary.degenerate, 1);
  EXPECT_DOUBLE_EQ(*summary.geomean_vs_best, 4) << "it still counts in the first mean";
  EXPECT_DOUBLE_EQ(*summary.geomean_vs_best_without_degenerate, 2);
  EXPECT_DOUBLE_EQ(*summary.geomean_vs_eager_without_degenerate, 3);
  const std::string text = SuiteText(summary, kOneLine);
  EXPECT_THAT(text, testing::HasSubstr("accepted, degenerate"));
  EXPECT_THAT(text, testing::HasSubstr("1 degenerate task"));
  EXPECT_THAT(text, testing::HasSubstr("without it 2.00x the best PyTorch baseline, 3.00x eager"));
  EXPECT_THAT(SuiteCsv(summary), testing::HasSubstr(",degenerate\n"));
  EXPECT_THAT(SuiteCsv(summary), testing::HasSubstr("2_b,accepted,1\n"));
  const OrderedJson json = SuiteToJson(summary);
  EXPECT_EQ(json["degenerate"], 1);
  EXPECT_TRUE(json["rows"][0]["degenerate"].is_null());
  EXPECT_EQ(json["rows"][1]["degenerate"], run.degenerate);
}

TEST_F(SuiteReportTest, FailuresAreCountedBesideTheMeansAndNotShownAsPyTorchKept) {
  Add("1_a", 4, 4, "accepted");
  Add("2_b", 1, 0, "no_difference");
  Add("3_c", 1, 0, "");  // proposed but never judged
  Add("4_d", 1, 0, "");
  Add("5_e", 1, 0, "cannot_judge");
  RunRecord failed = *store_->FindRun("4_d");
  failed.status = "failed";
  failed.outcome = "the task does not load";
  ASSERT_TRUE(store_->UpdateRun(failed).ok());
  const SuiteSummary summary = *Summarise(*store_, suite_);
  EXPECT_EQ(summary.counted, 2);
  EXPECT_EQ(summary.failed, 1);
  EXPECT_EQ(summary.nothing_tried, 1);
  EXPECT_EQ(summary.cannot_judge, 1);
  EXPECT_EQ(summary.failed + summary.nothing_tried + summary.cannot_judge + summary.unfinished,
            static_cast<int>(summary.rows.size()) - summary.counted)
      << "each task that is left out is told";
  EXPECT_EQ(SuiteToJson(summary)["cannot_judge"], 1);
  EXPECT_DOUBLE_EQ(*summary.geomean_vs_best, 2);
  EXPECT_DOUBLE_EQ(summary.fast_1, 0.2) << "shares are of all tasks";
  const std::string text = SuiteText(summary, kOneLine);
  EXPECT_THAT(text, testing::HasSubstr(
                        "over 2 of 5 tasks (1 failed, 1 with nothing to try, 1 that cannot be judged)"));
  EXPECT_THAT(text, testing::HasSubstr("nothing tried"));
  const OrderedJson rows = SuiteToJson(summary)["rows"];
  EXPECT_EQ(rows[1]["best"], "pytorch");
  EXPECT_TRUE(rows[2]["vs_best"].is_null());
  EXPECT_TRUE(rows[3]["best"].is_null());
  EXPECT_EQ(rows[3]["result"], "failed");
}

TEST_F(SuiteReportTest, WithoutACountedTaskThereIsNoMean) {
  Add("1_a", 1, 0, "");
  Add("2_b", 1, 0, "");
  RunRecord failed = *store_->FindRun("2_b");
  failed.status = "failed";
  ASSERT_TRUE(store_->UpdateRun(failed).ok());
  SuiteData data;
  data.summary = *Summarise(*store_, suite_);
  EXPECT_EQ(data.summary.counted, 0);
  const std::string text = SuiteText(data.summary, kOneLine);
  EXPECT_THAT(
      text, testing::HasSubstr("no task counts in the geometric mean (1 failed, 1 with nothing to try); 0"));
  const std::string markdown = SuiteMarkdown(data);
  EXPECT_THAT(markdown, testing::HasSubstr("| geometric mean | - | - |"));
  EXPECT_THAT(markdown, testing::HasSubstr("No task counts in the geometric mean: 1 failed, 1 with nothing"));
  const std::string html = SuiteHtml(data);
  EXPECT_THAT(html, testing::HasSubstr("<dd>-<small>no task counts in the mean</small>"));
  for (const std::string& one : {text, markdown, SuiteCsv(data.summary)}) {
    EXPECT_THAT(one, testing::Not(testing::HasSubstr("1.00")));
    EXPECT_THAT(one, testing::Not(testing::HasSubstr("0.00x")));
  }
  const OrderedJson json = SuiteToJson(data.summary);
  for (const char* name : {"geomean_vs_best", "geomean_vs_eager", "geomean_vs_best_without_degenerate",
                           "geomean_vs_eager_without_degenerate"})
    EXPECT_TRUE(json[name].is_null()) << name;
}

TEST_F(SuiteReportTest, WhereEveryCountedTaskIsDegenerateThereIsNoMeanWithoutThem) {
  Add("1_a", 2, 3, "accepted");
  RunRecord run = *store_->FindRun("1_a");
  run.degenerate = "the output does not depend on the inputs";
  ASSERT_TRUE(store_->UpdateRun(run).ok());
  SuiteData data;
  data.summary = *Summarise(*store_, suite_);
  const std::string words =
      "1 degenerate task: the output does not depend on the inputs; no other task counts in the geometric "
      "mean";
  EXPECT_THAT(SuiteText(data.summary, kOneLine), testing::HasSubstr(words));
  EXPECT_THAT(SuiteMarkdown(data), testing::HasSubstr(words));
  EXPECT_THAT(SuiteHtml(data), testing::HasSubstr("<dt>without degenerate tasks</dt><dd>-<small>" + words));
  EXPECT_EQ(SuiteToJson(data.summary)["geomean_vs_best"], 2.0);
  EXPECT_TRUE(SuiteToJson(data.summary)["geomean_vs_best_without_degenerate"].is_null());
}

TEST_F(SuiteReportTest, SentencesFitTheWidthOfAPipeAndCsvIsNotWrapped) {
  Add("1_a", 4, 8, "accepted");
  Add(std::string(150, 'b'), 1, 0, "rejected");
  const SuiteSummary summary = *Summarise(*store_, suite_);
  EXPECT_THAT(Lines(SuiteText(summary, Style(false, 80))), testing::Each(testing::SizeIs(testing::Le(80U))));
  EXPECT_EQ(Lines(SuiteCsv(summary)).size(), 3U);
}

TEST_F(SuiteReportTest, AnEmptySuiteIsATableWithoutRows) {
  const std::string text = SuiteText(*Summarise(*store_, suite_), kOneLine);
  EXPECT_THAT(text, testing::HasSubstr("0 tasks"));
  EXPECT_THAT(text, testing::HasSubstr("no task counts in the geometric mean; 0 tokens"));
}

TEST_F(SuiteReportTest, ShardsThatAreNotHereAreNamed) {
  Add("1_a", 2, 2, "accepted");
  Add("4_d", 2, 2, "accepted");
  suite_.options = R"({"tasks":["1_a","2_b","3_c","4_d","5_e"],"shards":3,"tasks_sha256":"x"})";
  SuiteSummary summary = *Summarise(*store_, suite_);
  EXPECT_EQ(MissingWords(summary), "shards 2 and 3 of 3 are missing: 3 tasks have no result here");
  EXPECT_THAT(SuiteText(summary, Style(false)), testing::HasSubstr("shards 2 and 3 of 3 are missing"));
  EXPECT_THAT(DumpJson(SuiteToJson(summary)),
              testing::HasSubstr(R"("shards":3,"missing_shards":[2,3],"missing":["2_b","3_c","5_e"])"));
  suite_.options = R"({"tasks":["1_a","2_b","4_d"],"tasks_sha256":"x"})";
  summary = *Summarise(*store_, suite_);
  EXPECT_EQ(MissingWords(summary), "1 task has no result yet: 2_b");
  EXPECT_THAT(SuiteMarkdown(*ReadSuiteData(*store_, suite_)), testing::HasSubstr("no result yet"));
  suite_.options = "{}";
  EXPECT_EQ(MissingWords(*Summarise(*store_, suite_)), "");
}

}  // namespace
}  // namespace hone

#include "store/overview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/run_follower.h"
#include "store/run_result.h"
#include "store/sql.h"

namespace hone {
namespace {

using testing::ElementsAre;

class OverviewTest : public testing::Test {
 protected:
  OverviewTest() : folder_(*TempFolder::Make("hone-overview-")) {
    store_ = std::move(*RunStore::Open(path()));
  }
  fs::path path() const { return folder_.path() / "hone.db"; }

  RunRecord Add(const std::string& task, double speed, const std::string& device = "H200",
                int64_t suite_id = 0) {
    RunRecord run;
    run.name = task + std::to_string(++names_);
    run.created = "2026-01-31T00:00:00Z";
    run.status = "done";
    run.task = task;
    run.target = "cuda";
    run.device = device;
    run.proposer = "expert";
    run.folder = folder_of_runs_;
    run.options = "{}";
    run.suite_id = suite_id;
    run.id = *store_->AddRun(run);
    if (speed > 0) {
      run.best_key = "seed0";
      run.vs_best = speed;
      run.vs_eager = 2 * speed;
      EXPECT_TRUE(store_->UpdateRun(run).ok());
      Judge(run.id, "seed0", "accepted", speed);
    }
    return run;
  }
  void Judge(int64_t run_id, const std::string& key, const std::string& verdict, double speed = 0) {
    CandidateRecord one;
    one.run_id = run_id;
    one.key = key;
    one.phase = key == "zero" ? "zero" : "seed";
    one.source = "x = 1";
    one.verdict = verdict;
    one.reason = verdict == "accepted" ? "faster" : "wrong-output";
    one.vs_best = speed;
    one.ci_low = speed * 0.9;
    one.ci_high = speed * 1.1;
    one.json = "{\"of\":\"" + key + "\"}";
    EXPECT_TRUE(store_->SaveCandidate(one).ok());
  }
  std::vector<std::string> Tasks(const RunQuery& query) {
    std::vector<std::string> names;
    const Result<RunList> list = ListRuns(*store_, query);
    EXPECT_TRUE(list.ok());
    for (const RunRow& row : list->rows) names.push_back(row.run.task);
    return names;
  }

  TempFolder folder_;
  std::unique_ptr<RunStore> store_;
  std::string folder_of_runs_ = "/f";
  int names_ = 0;
};

TEST_F(OverviewTest, RunsAreSortedAndPagedByTheStore) {
  Add("b", 2);
  Add("a", 0);
  Add("c", 3);
  RunQuery query;
  EXPECT_THAT(Tasks(query), ElementsAre("c", "a", "b"));
  query.order = "task";
  query.descending = false;
  EXPECT_THAT(Tasks(query), ElementsAre("a", "b", "c"));
  query.order = "speed";
  query.descending = true;
  EXPECT_THAT(Tasks(query), ElementsAre("c", "b", "a"));
  query.most = 1;
  query.offset = 1;
  EXPECT_THAT(Tasks(query), ElementsAre("b"));
  EXPECT_EQ(ListRuns(*store_, query)->total, 3);
}

TEST_F(OverviewTest, AnOrderNobodyKnowsIsTheUsualOne) {
  Add("a", 1);
  Add("b", 1);
  RunQuery query;
  query.order = "id; DROP TABLE run";
  EXPECT_THAT(Tasks(query), ElementsAre("b", "a"));
}

TEST_F(OverviewTest, EveryWordOfAFilterMustBeSomewhereAndPatternsMeanNothing) {
  Add("39_GRU", 2, "NVIDIA H200");
  Add("40_LSTM", 0, "some CPU");
  RunQuery query;
  query.words = "gru h200";
  EXPECT_THAT(Tasks(query), ElementsAre("39_GRU"));
  query.words = "gru cpu";
  EXPECT_THAT(Tasks(query), ElementsAre());
  query.words = "39%GRU";
  EXPECT_THAT(Tasks(query), ElementsAre());
  query.words = "";
  query.device = "some CPU";
  EXPECT_THAT(Tasks(query), ElementsAre("40_LSTM"));
}

TEST_F(OverviewTest, RunsBelowAFolderAreFoundHoweverManyAreElsewhere) {
  folder_of_runs_ = "/models/runs/old";
  Add("old", 1);
  folder_of_runs_ = "/models_of_others/runs/a";
  for (int i = 0; i < 60; ++i) Add("other", 1);
  RunQuery query;
  query.below = {"/models"};
  EXPECT_THAT(Tasks(query), ElementsAre("old"));
  query.below = {"/nothing", "/models/runs/old"};
  EXPECT_THAT(Tasks(query), ElementsAre("old"));
  query.below = {"/models%"};
  EXPECT_THAT(Tasks(query), ElementsAre());
  query.below = {"/"};
  EXPECT_EQ(ListRuns(*store_, query)->total, 61);
}

TEST_F(OverviewTest, ARowCountsCandidatesWithoutPyTorchItself) {
  const RunRecord run = Add("a", 2);
  Judge(run.id, "zero", "baseline");
  Judge(run.id, "seed1", "rejected");
  const RunList list = *ListRuns(*store_, {});
  EXPECT_EQ(list.rows[0].candidates, 2);
  EXPECT_EQ(list.rows[0].accepted, 1);
}

TEST_F(OverviewTest, ASuiteHasAMeanWithoutDegenerateTasks) {
  const int64_t suite = *store_->AddSuite({0, "s", "now", "{}"});
  Add("a", 2, "H200", suite);
  RunRecord constant = Add("b", 8, "H200", suite);
  constant.degenerate = "the output does not depend on the inputs";
  ASSERT_TRUE(store_->UpdateRun(constant).ok());
  const std::vector<SuiteLine> suites = *ListSuites(*store_);
  EXPECT_NEAR(*suites[0].geomean_vs_best, 4, 1e-9);
  EXPECT_EQ(suites[0].degenerate, 1);
  EXPECT_NEAR(*suites[0].geomean_without_degenerate, 2, 1e-9);
}

TEST_F(OverviewTest, ASuiteKeepsPyTorchAsOneAndCountsFailuresBesideTheMean) {
  const int64_t suite = *store_->AddSuite({0, "s", "now", "{}"});
  Add("a", 4, "H200", suite);
  Judge(Add("b", 0, "H200", suite).id, "seed0", "no_difference");
  Add("no candidate", 0, "H200", suite);
  RunRecord failed = Add("failed", 0, "H200", suite);
  failed.status = "failed";
  EXPECT_EQ(*store_->UpdateRun(failed), kRunFailed);
  const std::vector<SuiteLine> suites = *ListSuites(*store_);
  ASSERT_EQ(suites.size(), 1u);
  EXPECT_EQ(suites[0].tasks, 4);
  EXPECT_EQ(suites[0].faster, 1);
  EXPECT_EQ(suites[0].failed, 1);
  EXPECT_EQ(suites[0].nothing_tried, 1);
  EXPECT_NEAR(*suites[0].geomean_vs_best, 2, 1e-9);
}

TEST_F(OverviewTest, ASuiteInWhichNoTaskCountsHasNoMean) {
  const int64_t suite = *store_->AddSuite({0, "s", "now", "{}"});
  RunRecord run = Add("failed", 0, "H200", suite);
  run.status = "failed";
  ASSERT_TRUE(store_->UpdateRun(run).ok());
  EXPECT_FALSE((*ListSuites(*store_))[0].geomean_vs_best.has_value());
  run = Add("constant", 2, "H200", suite);
  run.degenerate = "the output does not depend on the inputs";
  ASSERT_TRUE(store_->UpdateRun(run).ok());
  EXPECT_TRUE((*ListSuites(*store_))[0].geomean_vs_best.has_value());
  EXPECT_FALSE((*ListSuites(*store_))[0].geomean_without_degenerate.has_value());
}

TEST_F(OverviewTest, TotalsAndDevicesAddUp) {
  const RunRecord run = Add("a", 2);
  Judge(run.id, "seed1", "rejected");
  const StoreTotals totals = *Totals(*store_);
  EXPECT_EQ(totals.runs.at("done"), 1);
  EXPECT_EQ((totals.candidates.at({"rejected", "wrong-output"})), 1);
  const std::vector<DeviceLine> devices = *ListDevices(*store_);
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].faster, 1);
  EXPECT_THAT(*DeviceNames(*store_), ElementsAre("H200"));
  EXPECT_EQ(*NewestVerdictOnDevice(*store_, "H200"), "{\"of\":\"seed1\"}");
  EXPECT_EQ(*NewestVerdictOfTask(*store_, "nothing"), "");
}

TEST_F(OverviewTest, AReadOnlyStoreCannotBeWrittenAndSeesWhatOthersWrite) {
  Add("a", 2);
  const std::unique_ptr<RunStore> reader = std::move(*RunStore::OpenReadOnly(path()));
  EXPECT_FALSE(reader->AddConsole(1, "no").ok());
  EXPECT_EQ(reader->Runs(10)->size(), 1u);
  Add("b", 2);
  EXPECT_EQ(reader->Runs(10)->size(), 2u);
  EXPECT_FALSE(RunStore::OpenReadOnly(folder_.path() / "none.db").ok());
}

TEST_F(OverviewTest, AStoreOfTheSecondVersionGetsItsIndexesAndKeepsItsRuns) {
  Add("a", 2);
  store_.reset();
  {
    Store old = std::move(*Store::Open(path()));
    for (const char* index : {"run_by_status", "run_by_task", "run_by_device", "candidate_by_verdict",
                              "candidate_by_run", "call_usage"}) {
      Statement drop(old.handle(), ("DROP INDEX " + std::string(index)).c_str());
      ASSERT_EQ(drop.Step(), SQLITE_DONE) << index;
    }
    Statement column(old.handle(), "ALTER TABLE run DROP COLUMN result");
    ASSERT_EQ(column.Step(), SQLITE_DONE);
    Statement version(old.handle(), "PRAGMA user_version = 2");
    version.Step();
  }
  EXPECT_FALSE(RunStore::OpenReadOnly(path()).ok());
  store_ = std::move(*RunStore::Open(path()));
  EXPECT_EQ(ListRuns(*store_, {})->total, 1);
  EXPECT_EQ(ListRuns(*store_, {})->rows[0].run.result, kAccepted);
  Statement indexes(store_->store().handle(),
                    "SELECT count(*) FROM sqlite_master WHERE name = 'candidate_by_run'");
  ASSERT_EQ(indexes.Step(), SQLITE_ROW);
  EXPECT_EQ(indexes.Integer(0), 1);
}

TEST_F(OverviewTest, AFollowerTellsEverythingOnceAndThenOnlyWhatIsNew) {
  RunRecord run = Add("a", 0);
  ASSERT_TRUE(store_->AddConsole(run.id, "hello").ok());
  const std::unique_ptr<RunStore> reader = std::move(*RunStore::OpenReadOnly(path()));
  RunFollower follower(*reader, run.id);
  const RunNews first = *follower.Look();
  EXPECT_TRUE(first.run.has_value());
  ASSERT_EQ(first.console.size(), 1u);
  EXPECT_TRUE(follower.Look()->empty());

  Judge(run.id, "seed0", "");
  const RunNews appeared = *follower.Look();
  ASSERT_EQ(appeared.candidates.size(), 1u);
  EXPECT_FALSE(appeared.run.has_value());
  EXPECT_EQ(appeared.candidates[0].source, "");
  Judge(run.id, "seed0", "accepted", 2);
  EXPECT_TRUE(follower.Look()->candidates.at(0).accepted());
  EXPECT_TRUE(follower.Look()->empty());
}

TEST_F(OverviewTest, AFollowerTellsAllCallsWhenTheUsageChangesAndNoneOtherwise) {
  const RunRecord run = Add("a", 0);
  const std::unique_ptr<RunStore> reader = std::move(*RunStore::OpenReadOnly(path()));
  RunFollower follower(*reader, run.id);
  EXPECT_TRUE(follower.Look()->calls.empty());
  for (const char* key : {"seed0", "seed1"}) {
    CallRecord call;
    call.run_id = run.id;
    call.key = key;
    call.prompt = "long";
    call.prompt_tokens = 100;
    ASSERT_TRUE(store_->SaveCall(call).ok());
  }
  const RunNews asked = *follower.Look();
  ASSERT_EQ(asked.calls.size(), 2u);
  EXPECT_EQ(asked.calls[1].key, "seed1");
  EXPECT_EQ(asked.calls[1].prompt, "");
  Judge(run.id, "seed0", "accepted", 2);
  EXPECT_TRUE(follower.Look()->calls.empty());
}

TEST_F(OverviewTest, AFollowerBeginsAfterTheLineItIsGiven) {
  const RunRecord run = Add("a", 0);
  for (const char* line : {"one", "two", "three"}) ASSERT_TRUE(store_->AddConsole(run.id, line).ok());
  const int64_t two = store_->Console(run.id, 0, 10)->at(1).first;
  const std::unique_ptr<RunStore> reader = std::move(*RunStore::OpenReadOnly(path()));
  RunFollower follower(*reader, run.id, two);
  const RunNews news = *follower.Look();
  ASSERT_EQ(news.console.size(), 1u);
  EXPECT_EQ(news.console[0].second, "three");
}

}  // namespace
}  // namespace hone

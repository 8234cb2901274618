#include "store/standings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "evaluation/truth.h"
#include "store/run_result.h"

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Won {
  double low = 0;
  double estimate = 0;
  double high = 0;
};

class StandingsTest : public testing::Test {
 protected:
  StandingsTest() : folder_(*TempFolder::Make("hone-standings-")) {
    store_ = std::move(*RunStore::Open(folder_.path() / "hone.db"));
  }
  // Adds a run whose best candidate has this interval. An empty interval means that nothing is accepted.
  int64_t Add(const std::string& task, const Won& won, const std::string& device = "H200",
              const std::string& torch = "2.11.0", const std::string& sha256 = "aa",
              const std::vector<std::string>& rungs = {"eager", "cudagraph"}) {
    RunRecord run;
    run.name = task + std::to_string(++names_);
    run.created = "2026-01-31T00:00:00Z";
    run.status = "done";
    run.task = task;
    run.task_sha256 = sha256;
    run.target = "cuda";
    run.device = device;
    run.proposer = "expert";
    run.folder = "/f";
    run.options = "{}";
    run.best_key = won.estimate > 0 ? "seed0" : "";
    run.id = *store_->AddRun(run);
    if (won.estimate > 0) Judge(run.id, "accepted", won, torch, rungs);
    return run.id;
  }
  void Judge(int64_t run_id, const std::string& verdict, const Won& won, const std::string& torch,
             const std::vector<std::string>& rungs) {
    CandidateRecord one;
    one.run_id = run_id;
    one.key = "seed0";
    one.phase = "seed";
    one.verdict = verdict;
    one.ci_low = won.low;
    one.vs_best = won.estimate;
    one.ci_high = won.high;
    Json ladder = Json::array();
    for (const std::string& rung : rungs) ladder.push_back({{"name", rung}, {"available", true}});
    ladder.push_back({{"name", "compile"}, {"available", false}});
    one.json = DumpJson(Json{
        {"provenance",
         {{"torch", torch}, {"triton", "3.5.0"}, {"target", "triton"}, {"threads", 8}, {"ladder", ladder}}}});
    EXPECT_TRUE(store_->SaveCandidate(one).ok());
  }

  TempFolder folder_;
  std::unique_ptr<RunStore> store_;
  int names_ = 0;
};

TEST_F(StandingsTest, ResultsRankByTheLowerEndOfTheirInterval) {
  const int64_t steady = Add("a", {1.9, 2.0, 2.1});
  const int64_t lucky = Add("a", {0.9, 3.0, 5.1});
  const Leaderboard board = *RankTasks(*store_, "", "");
  ASSERT_EQ(board.groups.size(), 1u);
  ASSERT_EQ(board.groups[0].runs.size(), 2u);
  EXPECT_EQ(board.groups[0].runs[0].run_id, steady);
  EXPECT_EQ(board.groups[0].runs[1].run_id, lucky);
  EXPECT_TRUE(IntervalsOverlap(board.groups[0].runs[0], board.groups[0].runs[1]));
}

TEST_F(StandingsTest, OnlyTheSameTextDeviceVersionsAndBaselinesAreCompared) {
  Add("a", {1.9, 2.0, 2.1});
  Add("a", {2.9, 3.0, 3.1}, "A100");
  Add("a", {3.9, 4.0, 4.1}, "H200", "2.12.0");
  Add("a", {4.9, 5.0, 5.1}, "H200", "2.11.0", "bb");
  Add("a", {5.9, 6.0, 6.1}, "H200", "2.11.0", "aa", {"eager"});
  Add("b", {1.4, 1.5, 1.6});
  const Leaderboard board = *RankTasks(*store_, "", "");
  std::vector<double> lows;
  for (const StandingGroup& group : board.groups) {
    EXPECT_EQ(group.runs.size(), 1u);
    lows.push_back(group.runs[0].ci_low);
  }
  EXPECT_THAT(lows, ElementsAre(5.9, 4.9, 3.9, 2.9, 1.9, 1.4));
  EXPECT_EQ(board.groups[4].setting, "torch 2.11.0, Triton 3.5.0; baselines eager, cudagraph");
  EXPECT_EQ(RankTasks(*store_, "A100", "")->groups.size(), 1u);
  EXPECT_EQ(RankTasks(*store_, "", "b h200")->groups.size(), 1u);
}

TEST_F(StandingsTest, AnotherRuleOrAnotherHoneIsAnotherCompetition) {
  const std::vector<Json> kSettings = {
      {{"hone", "1.0"}, {"limit_rule", DescribeRule(LimitRule())}, {"allow_blind", false}},
      {{"hone", "1.1"}, {"limit_rule", DescribeRule(LimitRule())}, {"allow_blind", false}},
      {{"hone", "1.0"}, {"limit_rule", "|y - PyTorch| <= 0.01"}, {"allow_blind", false}},
      {{"hone", "1.0"}, {"limit_rule", DescribeRule(LimitRule())}, {"allow_blind", true}}};
  for (const Json& setting : kSettings) {
    const int64_t id = Add("a", {1.9, 2.0, 2.1});
    CandidateRecord one = **store_->Candidate(id, "seed0");
    Json record = *ParseJson(one.json);
    record["provenance"].update(setting);
    one.json = DumpJson(record);
    ASSERT_TRUE(store_->SaveCandidate(one).ok());
  }
  std::vector<std::string> settings;
  const auto ranked = RankTasks(*store_, "", "");
  ASSERT_TRUE(ranked.ok());
  for (const StandingGroup& group : ranked->groups) {
    EXPECT_EQ(group.runs.size(), 1u);
    settings.push_back(group.setting);
  }
  EXPECT_THAT(settings, testing::UnorderedElementsAre(
                            HasSubstr(", Hone 1.0; baselines"), HasSubstr(", Hone 1.1; baselines"),
                            HasSubstr(", Hone 1.0, limit |y - PyTorch| <= 0.01; baselines"),
                            HasSubstr(", Hone 1.0, blind spots allowed; baselines")));
}

TEST_F(StandingsTest, AVerdictTakenFromTheStoreIsNoSecondResult) {
  const auto take = [&](const std::string& from) {
    const int64_t id = Add("a", {1.9, 2.0, 2.1});
    CandidateRecord one = **store_->Candidate(id, "seed0");
    Json record = *ParseJson(one.json);
    record["from_store"] = {{"id", from}, {"created", "then"}};
    one.json = DumpJson(record);
    EXPECT_TRUE(store_->SaveCandidate(one).ok());
    return id;
  };
  const int64_t first = Add("a", {1.8, 2.0, 2.2});
  take("R1 seed0");
  take("R1 seed0");
  const int64_t of_bench = take("V7");
  take("V7");
  const int64_t again = Add("a", {1.7, 2.0, 2.3});
  std::vector<int64_t> runs;
  const Leaderboard board = *RankTasks(*store_, "", "");
  ASSERT_EQ(board.groups.size(), 1u);
  for (const Standing& one : board.groups[0].runs) runs.push_back(one.run_id);
  EXPECT_THAT(runs, ElementsAre(of_bench, first, again));
  EXPECT_EQ(TaskHistory(*store_, "a", 10)->size(), 6u) << "every run is in the history";
}

TEST_F(StandingsTest, OneThreadIsSingular) {
  for (const int threads : {1, 2}) {
    CandidateRecord one = **store_->Candidate(Add("a", {1.9, 2.0, 2.1}), "seed0");
    one.json = DumpJson(Json{{"provenance", {{"target", "cpu"}, {"threads", threads}}}});
    ASSERT_TRUE(store_->SaveCandidate(one).ok());
  }
  std::vector<std::string> settings;
  const Leaderboard board = *RankTasks(*store_, "", "");
  for (const StandingGroup& group : board.groups) settings.push_back(group.setting);
  EXPECT_THAT(settings, testing::UnorderedElementsAre("1 thread", "2 threads"));
}

TEST_F(StandingsTest, AFailedTaskIsNotPyTorchKept) {
  const int64_t failed = Add("broken", {});
  RunRecord run = *store_->FindRun("R" + std::to_string(failed));
  run.status = "failed";
  ASSERT_TRUE(store_->UpdateRun(run).ok());
  Add("untried", {});
  Judge(Add("kept", {}), "no_difference", {}, "2.11.0", {});
  Add("kept", {});
  Add("won", {1.9, 2.0, 2.1});
  Add("won", {});
  const Leaderboard board = *RankTasks(*store_, "", "");
  ASSERT_EQ(board.unsolved.size(), 3u);
  EXPECT_EQ(board.unsolved[0].task, "broken");
  EXPECT_EQ(board.unsolved[0].result, kRunFailed);
  EXPECT_EQ(board.unsolved[1].task, "kept");
  EXPECT_EQ(board.unsolved[1].result, kKeptPyTorch);
  EXPECT_EQ(board.unsolved[1].runs, 2);
  EXPECT_EQ(board.unsolved[2].result, kNothingTried);
}

TEST_F(StandingsTest, AHistoryHasEveryRunTheOldestFirst) {
  for (int i = 0; i < 3; ++i) Add("a", i == 1 ? Won{} : Won{1.9, 2.0, 2.1});
  Add("b", {1.9, 2.0, 2.1});
  const std::vector<Standing> history = *TaskHistory(*store_, "a", 10);
  ASSERT_EQ(history.size(), 3u);
  EXPECT_EQ(history[0].run_id, 1);
  EXPECT_FALSE(history[1].accepted());
  EXPECT_EQ(history[1].setting, "");
  EXPECT_EQ(TaskHistory(*store_, "a", 2)->front().run_id, 2);
}

TEST_F(StandingsTest, AVerdictThatCannotBeReadHasNoSetting) {
  const int64_t id = Add("a", {1.9, 2.0, 2.1});
  CandidateRecord one = **store_->Candidate(id, "seed0");
  one.json = "not json";
  ASSERT_TRUE(store_->SaveCandidate(one).ok());
  EXPECT_EQ(RankTasks(*store_, "", "")->groups.at(0).setting, "");
}

}  // namespace
}  // namespace hone

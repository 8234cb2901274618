#include "store/run_result.h"

#include <gtest/gtest.h>

#include "store/run_store.h"
#include "store/sql.h"

namespace hone {
namespace {

constexpr char kBlamed[] =
    "PermissionError: 'table.txt'; t.py:5 reads table.txt, and a candidate cannot: it runs in a sandbox "
    "without "
    "the task's folder. Move what is needed into the task file";

struct Row {
  const char* what;
  const char* status;
  std::vector<std::array<const char*, 3>> candidates;  // verdict, reason, detail
  const char* result;
  bool counts;
};

const std::vector<Row>& Rows() {
  static const std::vector<Row> kRows = {
      {"goes on", "running", {{"accepted", "faster", ""}}, "", false},
      {"won", "done", {{"rejected", "crashed", ""}, {"accepted", "faster", ""}}, kAccepted, true},
      {"won, then failed", "failed", {{"accepted", "faster", ""}}, kAccepted, true},
      {"a tie", "done", {{"no_difference", "no_difference", ""}}, kKeptPyTorch, true},
      {"slower", "done", {{"rejected", "slower", ""}, {"rejected", "crashed", ""}}, kKeptPyTorch, true},
      {"slower, stopped by a budget", "stopped", {{"rejected", "slower", ""}}, kKeptPyTorch, true},
      {"all wrong", "done", {{"rejected", "wrong-output", ""}}, kNoneRight, true},
      {"an import error of its own", "done", {{"rejected", "import-failed", "NameError"}}, kNoneRight, true},
      {"too busy to time", "done", {{"inconclusive", "machine-busy", ""}}, kKeptPyTorch, true},
      {"a blind task",
       "done",
       {{"cannot_judge", "blind-task", ""}, {"rejected", "crashed", ""}},
       kCannotJudge,
       false},
      {"a blind task, slower",
       "done",
       {{"cannot_judge", "blind-task", ""}, {"rejected", "slower", ""}},
       kKeptPyTorch,
       true},
      {"nothing proposed", "done", {}, kNothingTried, false},
      {"nothing judged", "stopped", {{"", "", ""}}, kNothingTried, false},
      {"a file beside the task",
       "done",
       {{"rejected", "import-failed", kBlamed}, {"rejected", "crashed", kBlamed}},
       kNothingTried,
       false},
      {"a file is missing in one of two",
       "done",
       {{"rejected", "import-failed", kBlamed}, {"rejected", "slower", ""}},
       kKeptPyTorch,
       true},
      {"a file that the task does not have either",
       "done",
       {{"rejected", "import-failed", "FileNotFoundError: 'weights.bin'"}},
       kNoneRight,
       true},
      {"failed", "failed", {{"rejected", "slower", ""}}, kRunFailed, false},
      {"failed at once", "failed", {}, kRunFailed, false},
  };
  return kRows;
}

class RunResultTest : public testing::Test {
 protected:
  RunResultTest() : folder_(*TempFolder::Make("hone-result-")) {
    store_ = std::move(*RunStore::Open(path()));
  }
  fs::path path() const { return folder_.path() / "hone.db"; }

  TempFolder folder_;
  std::unique_ptr<RunStore> store_;
};

TEST_F(RunResultTest, TellsKeptPyTorchFromNothingTriedAndFromFailure) {
  for (const Row& row : Rows()) {
    RunRecord run;
    run.name = row.what;
    run.status = row.status;
    run.id = *store_->AddRun(run);
    std::vector<CandidateRecord> candidates;
    CandidateRecord& zero = candidates.emplace_back();
    zero.key = zero.phase = "zero";
    zero.verdict = "baseline";
    for (const auto& [verdict, reason, detail] : row.candidates) {
      CandidateRecord& one = candidates.emplace_back();
      one.key = "c" + std::to_string(candidates.size());
      one.phase = "seed";
      one.verdict = verdict;
      one.reason = reason;
      one.detail = detail;
    }
    EXPECT_EQ(ResultOf(run, candidates), row.result) << row.what;
    EXPECT_EQ(CountsInMeans(row.result), row.counts) << row.what;
    // The store derives the same result, whichever row is saved last.
    for (CandidateRecord& one : candidates) {
      one.run_id = run.id;
      ASSERT_TRUE(store_->SaveCandidate(one).ok());
    }
    EXPECT_EQ(store_->FindRun(row.what)->result, row.result) << row.what;
    EXPECT_EQ(*store_->UpdateRun(run), row.result) << row.what;
  }
}

TEST_F(RunResultTest, AStoreOfTheThirdVersionGetsItsResults) {
  RunRecord run;
  run.name = "old";
  run.status = "done";
  run.id = *store_->AddRun(run);
  CandidateRecord one;
  one.run_id = run.id;
  one.key = one.phase = "seed0";
  one.verdict = "rejected";
  one.reason = "slower";
  ASSERT_TRUE(store_->SaveCandidate(one).ok());
  for (const char* sql : {"ALTER TABLE run DROP COLUMN result", "PRAGMA user_version = 3"}) {
    Statement back(store_->store().handle(), sql);
    ASSERT_EQ(back.Step(), SQLITE_DONE) << sql;
  }
  store_.reset();
  store_ = std::move(*RunStore::Open(path()));
  EXPECT_EQ(store_->FindRun("old")->result, kKeptPyTorch);
}

}  // namespace
}  // namespace hone

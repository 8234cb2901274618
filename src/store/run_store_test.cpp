#include "store/run_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "store/sql.h"

namespace hone {
namespace {

class RunStoreTest : public testing::Test {
 protected:
  RunStoreTest() : folder_(*TempFolder::Make("hone-store-")) {
    store_ = std::move(*RunStore::Open(folder_.path() / "hone.db"));
  }

  RunRecord Add(const std::string& name, int64_t suite_id = 0) {
    RunRecord run;
    run.name = name;
    run.created = "2026-01-31T00:00:00Z";
    run.status = "running";
    run.task = "39_GRU";
    run.task_source = "class Model: pass";
    run.target = "cpu";
    run.proposer = "expert";
    run.folder = "/somewhere/" + name;
    run.options = R"({"seeds":2})";
    run.suite_id = suite_id;
    run.id = *store_->AddRun(run);
    return run;
  }

  CandidateRecord Candidate(int64_t run_id, const std::string& key) {
    CandidateRecord candidate;
    candidate.run_id = run_id;
    candidate.key = key;
    candidate.phase = "seed";
    candidate.source = "x = 1";
    return candidate;
  }

  TempFolder folder_;
  std::unique_ptr<RunStore> store_;
};

TEST_F(RunStoreTest, ARunComesBackAsItWasSaved) {
  RunRecord run = Add("20260131_a");
  run.status = "done";
  run.outcome = "seed0 is 2.00x";
  run.best_key = "seed0";
  run.vs_best = 2;
  run.card = R"({"card":1})";
  ASSERT_TRUE(store_->UpdateRun(run).ok());
  const RunRecord found = *store_->FindRun("20260131_a");
  EXPECT_EQ(found.outcome, run.outcome);
  EXPECT_EQ(found.best_key, "seed0");
  EXPECT_EQ(found.vs_best, 2);
  EXPECT_EQ(found.card, run.card);
  EXPECT_EQ(found.task_source, run.task_source);
  EXPECT_EQ(found.options, run.options);
}

TEST_F(RunStoreTest, ARunIsFoundByNumberNameBeginningFolderAndAsTheLast) {
  const RunRecord a = Add("20260131_a");
  const RunRecord b = Add("20260201_b");
  EXPECT_EQ(store_->FindRun("R" + std::to_string(a.id))->id, a.id);
  EXPECT_EQ(store_->FindRun("20260131_a")->id, a.id);
  EXPECT_EQ(store_->FindRun("20260201")->id, b.id);
  EXPECT_EQ(store_->FindRun("/somewhere/20260131_a/")->id, a.id);
  EXPECT_EQ(store_->FindRun("runs/20260131_a")->id, a.id);
  EXPECT_EQ(store_->FindRun("last")->id, b.id);
  const Result<RunRecord> several = store_->FindRun("2026");
  ASSERT_FALSE(several.ok());
  EXPECT_THAT(several.error().message, testing::HasSubstr("several runs begin with"));
  EXPECT_EQ(store_->FindRun("nothing").error().kind, ErrorKind::kNotFound);
}

TEST_F(RunStoreTest, ARunIsSeenAfterItsMakerIsReadyAndNotAtAllIfThatFails) {
  RunRecord run = Add("a");
  std::unique_ptr<RunStore> reader = std::move(*RunStore::OpenReadOnly(folder_.path() / "hone.db"));
  run.name = "b";
  int64_t given = 0;
  const Result<int64_t> id = store_->AddRun(run, [&](int64_t one) -> Status {
    given = one;
    EXPECT_FALSE(reader->FindRun("b").ok());
    return Ok();
  });
  ASSERT_TRUE(id.ok());
  EXPECT_EQ(*id, given);
  EXPECT_TRUE(reader->FindRun("b").ok());
  run.name = "c";
  EXPECT_FALSE(store_->AddRun(run, [](int64_t) { return Status(Error{ErrorKind::kIo, "no lock"}); }).ok());
  EXPECT_FALSE(reader->FindRun("c").ok());
  run.name = "d";
  EXPECT_TRUE(store_->AddRun(run).ok());
}

TEST_F(RunStoreTest, TwoRunsCannotHaveOneName) {
  Add("a");
  RunRecord again;
  again.name = "a";
  again.status = "running";
  const Result<int64_t> id = store_->AddRun(again);
  ASSERT_FALSE(id.ok());
  EXPECT_THAT(id.error().message, testing::HasSubstr("UNIQUE"));
}

TEST_F(RunStoreTest, ACandidateKeepsItsPlaceWhenItsVerdictArrives) {
  const RunRecord run = Add("a");
  ASSERT_TRUE(store_->SaveCandidate(Candidate(run.id, "seed0")).ok());
  ASSERT_TRUE(store_->SaveCandidate(Candidate(run.id, "seed1")).ok());
  CandidateRecord judged = Candidate(run.id, "seed0");
  judged.verdict = "accepted";
  judged.vs_best = 3;
  ASSERT_TRUE(store_->SaveCandidate(judged).ok());
  const std::vector<CandidateRecord> all = *store_->Candidates(run.id);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].key, "seed0");
  EXPECT_TRUE(all[0].accepted());
  EXPECT_FALSE(all[1].judged());
}

TEST_F(RunStoreTest, CallsAddUp) {
  const RunRecord run = Add("a");
  for (int i = 0; i < 3; ++i) {
    CallRecord call;
    call.run_id = run.id;
    call.key = "seed" + std::to_string(i);
    call.call_type = "seed";
    call.status = "answered";
    call.prompt_tokens = 100;
    call.completion_tokens = 10;
    call.cost_usd = 0.5;
    call.price_known = i != 2;
    call.estimated = i == 1;
    ASSERT_TRUE(store_->SaveCall(call).ok());
  }
  const UsageTotals usage = *store_->Usage(run.id);
  EXPECT_EQ(usage.calls, 3);
  EXPECT_EQ(usage.prompt_tokens, 300);
  EXPECT_EQ(usage.completion_tokens, 30);
  EXPECT_DOUBLE_EQ(usage.cost_usd, 1.5);
  EXPECT_TRUE(usage.estimated);
  EXPECT_FALSE(usage.price_known);
}

TEST_F(RunStoreTest, TheFirstDecisionOfAKeyStays) {
  const RunRecord run = Add("a");
  ASSERT_TRUE(store_->SaveDecision(run.id, {"k", "now", "tuning", "first", "null"}).ok());
  ASSERT_TRUE(store_->SaveDecision(run.id, {"k", "now", "tuning", "second", "null"}).ok());
  EXPECT_EQ((*store_->Decision(run.id, "k"))->text, "first");
}

TEST_F(RunStoreTest, DeletingARunTakesEverythingOfItAlong) {
  const RunRecord run = Add("a");
  ASSERT_TRUE(store_->SaveCandidate(Candidate(run.id, "seed0")).ok());
  ASSERT_TRUE(store_->AddConsole(run.id, "hello").ok());
  ASSERT_TRUE(store_->DeleteRun(run.id).ok());
  EXPECT_TRUE(store_->Candidates(run.id)->empty());
  EXPECT_TRUE(store_->Console(run.id, 0, 10)->empty());
}

TEST_F(RunStoreTest, ACandidateOfNoRunIsRefused) {
  EXPECT_FALSE(store_->SaveCandidate(Candidate(4711, "seed0")).ok());
}

TEST_F(RunStoreTest, ASuiteListsItsMembersOnly) {
  const int64_t suite = *store_->AddSuite({0, "s", "now", "{}"});
  Add("a", suite);
  Add("b");
  EXPECT_EQ(store_->Runs(10, suite)->size(), 1u);
  EXPECT_EQ(store_->Runs(10)->size(), 2u);
  EXPECT_EQ(store_->FindSuite("s")->id, suite);
  EXPECT_FALSE(store_->FindSuite("t").ok());
}

TEST_F(RunStoreTest, AStoreOfTheFirstVersionIsMigratedAndKeepsItsVerdicts) {
  const fs::path path = folder_.path() / "old.db";
  {
    Store old = std::move(*Store::Open(path));
    VerdictRecord verdict;
    verdict.task = "t";
    ASSERT_TRUE(old.Save(verdict).ok());
    for (const char* table : {"console", "decision", "candidate", "call", "run", "suite"}) {
      Statement drop(old.handle(), ("DROP TABLE " + std::string(table)).c_str());
      ASSERT_EQ(drop.Step(), SQLITE_DONE);
    }
    Statement version(old.handle(), "PRAGMA user_version = 1");
    version.Step();
  }
  const std::unique_ptr<RunStore> store = std::move(*RunStore::Open(path));
  EXPECT_EQ(store->store().Verdicts(10)->size(), 1u);
  EXPECT_TRUE(store->Runs(10)->empty());
}

TEST_F(RunStoreTest, TwoConnectionsWriteAtOnceWithoutALostRow) {
  const RunRecord run = Add("a");
  constexpr int kRows = 100;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 3; ++writer)
    writers.emplace_back([&, writer] {
      const std::unique_ptr<RunStore> own = std::move(*RunStore::Open(folder_.path() / "hone.db"));
      for (int i = 0; i < kRows; ++i)
        EXPECT_TRUE(own->SaveCandidate(Candidate(run.id, std::to_string(writer * kRows + i))).ok());
    });
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(store_->Candidates(run.id)->size(), 3u * kRows);
}

}  // namespace
}  // namespace hone

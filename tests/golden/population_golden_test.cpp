// Runs the population search with the real Spine in a simulated world. A search killed at any step and
// resumed must end as if undisturbed, budgets must hold, and decisions must follow from the record.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/files.h"
#include "kill_harness.h"
#include "search_world.h"

namespace hone {
namespace {

using namespace search_world;

RunOptions Searching(int calls, int breadth) {
  RunOptions options;
  options.proposer = "llm";
  options.search = "population";
  options.search_seed = 11;
  options.breadth = breadth;
  options.patience = 1000;
  options.budget.calls = calls;
  return options;
}

// A run in its own store, which is open only during an operation on it.
class MadeUpRun {
 public:
  explicit MadeUpRun(const RunOptions& options) : folder_(*TempFolder::Make("hone-population-")) {
    RunRecord run = NewRun("run", options);
    run.folder = (folder_.path() / "run").string();
    EXPECT_TRUE(Open()->AddRun(run).ok());
  }

  Result<RunEnd> Go(const Listener& listener = {}) {
    const World world = WorldNamed("even", 5);
    WorldModel model(world);
    WorldJudge judge(world);
    HeardModel heard_model(model, listener);
    HeardJudge heard_judge(judge, listener);
    return RunIn(*Open(), "run", heard_model, heard_judge, WatcherOf(listener));
  }

  // All requests, candidates and decisions, without times.
  std::multiset<std::string> Rows() {
    const std::unique_ptr<RunStore> store = Open();
    const RunRecord run = *store->FindRun("run");
    std::multiset<std::string> rows = {
        fmt::format("{} {} {:.6f} {}", run.status, run.best_key, run.vs_best, run.outcome)};
    const std::vector<CandidateRecord> candidates = *store->Candidates(run.id);
    for (const CandidateRecord& one : candidates)
      rows.insert(fmt::format("{} < {} + {}: {} {}", one.key, one.parent_key, one.other_parent_key,
                              one.reason, one.sha256));
    const std::vector<CallRecord> calls = *store->Calls(run.id);
    for (const CallRecord& one : calls)
      rows.insert(one.key + " " + Sha256(one.prompt) + " " + Sha256(one.reply + one.more_replies));
    const std::vector<DecisionRecord> decisions = *store->Decisions(run.id);
    for (const DecisionRecord& one : decisions) rows.insert(one.key + " " + one.text + " " + one.json);
    return rows;
  }

  std::unique_ptr<RunStore> Open() { return std::move(*RunStore::Open(folder_.path() / "hone.db")); }
  fs::path folder() const { return folder_.path(); }

 private:
  const TempFolder folder_;
};

// The number of parallel steps, and the distance between kills. Killing at every step would take longer
// without testing more.
struct Killing {
  int breadth;
  int calls;
  int stride;
  int replies = 1;  // per prompt
};
class KilledSearch : public testing::TestWithParam<Killing> {};

INSTANTIATE_TEST_SUITE_P(Breadth, KilledSearch,
                         testing::Values(Killing{1, 16, 1}, Killing{3, 22, 3}, Killing{1, 9, 2, 3}),
                         [](const auto& info) {
                           return fmt::format("Breadth{}Replies{}", info.param.breadth, info.param.replies);
                         });

TEST_P(KilledSearch, EndsAsIfNothingHadHappenedWhereverItIsKilled) {
  RunOptions options = Searching(GetParam().calls, GetParam().breadth);
  options.replies = GetParam().replies;
  MadeUpRun undisturbed(options);
  ASSERT_TRUE(undisturbed.Go().ok());
  const std::multiset<std::string> wanted = undisturbed.Rows();
  const int kills = KillAtEveryStep<MadeUpRun>(
      GetParam().stride, [&] { return MadeUpRun(options); },
      [&](MadeUpRun& run) { EXPECT_EQ(run.Rows(), wanted); });
  EXPECT_GE(kills, 25);
}

TEST(Population, UsesEveryKindOfStepAndNamesBothParents) {
  MadeUpRun run(Searching(90, 1));
  ASSERT_TRUE(run.Go().ok());
  const std::unique_ptr<RunStore> store = run.Open();
  const RunRecord record = *store->FindRun("run");
  std::map<std::string, int> phases;
  const std::vector<CandidateRecord> candidates = *store->Candidates(record.id);
  for (const CandidateRecord& one : candidates) {
    ++phases[one.phase];
    EXPECT_EQ(!one.other_parent_key.empty(), one.phase == "combine") << one.key;
    if (one.phase == "combine") {
      EXPECT_NE(one.other_parent_key, one.parent_key);
    }
  }
  for (const char* phase : {"improve", "combine", "restart", "mend"}) EXPECT_GT(phases[phase], 0) << phase;
  EXPECT_EQ(store->Usage(record.id)->calls, 90);
}
  // A tuned candidate has the phase of its stage.
  EXPECT_GT(phases["stage_grid"] + phases["stage_block"] + phases["stage_memory"], 0);
  const std::vector<DecisionRecord> decisions = *store->Decisions(record.id);
  std::map<std::string, int> steps;
  for (const DecisionRecord& one : decisions)
    if (StepOf(one.key) > 0 && !EndsWith(one.key, ".end"))
      if (const Result<Json> json = ParseJson(one.json); json.ok()) ++steps[GetString(*json, "operator")];
  for (const Operator op : kOperators) EXPECT_GT(steps[NameOf(op)], 0) << NameOf(op);

TEST(Population, NoBudgetIsExceededByMoreThanACall) {
  for (const int breadth : {1, 4})
    for (const double usd : {0.1, 0.25, 0.5}) {
      RunOptions options = Searching(0, breadth);
      options.budget.usd = usd;
      MadeUpRun run(options);
      ASSERT_TRUE(run.Go().ok());
      const std::unique_ptr<RunStore> store = run.Open();
      const RunRecord record = *store->FindRun("run");
      const std::vector<CallRecord> calls = *store->Calls(record.id);
      double spent = 0;
      for (size_t i = 0; i + 1 < calls.size(); ++i) spent += calls[i].cost_usd;
      EXPECT_LT(spent, usd) << "the last call began within the budget";
      EXPECT_GE(spent + calls.back().cost_usd, usd) << "and nothing of it was left";
      EXPECT_EQ(record.status, "stopped");
    }
}

// Fails at one call of the first session, after some delay.
class FailingModel : public WorldModel {
 public:
  FailingModel(const World& world, std::string begins) : WorldModel(world), begins_(std::move(begins)) {}
  ModelReply Ask(const ModelRequest& request, const ModelProgress& progress) override {
    ModelReply reply = WorldModel::Ask(request, progress);
    billed_usd += reply.usage.cost_usd;
    if (!failed_key.empty() || !StartsWith(request.key, begins_)) return reply;
    failed_key = request.key;
    reply.failure = ModelFailure::kUnreachable;
    reply.message = "the connection broke";
    reply.text.clear();
    return reply;
  }
  double billed_usd = 0;
  std::string failed_key;

 private:
  std::string begins_;
};

TEST(Population, WhatACallCostThatFailedIsStillPaidWhenItIsAskedAgain) {
  RunOptions options = Searching(0, 1);
  options.budget.usd = 0.5;
  MadeUpRun run(options);
  const std::unique_ptr<RunStore> store = run.Open();
  const World world = WorldNamed("even", 5);
  FailingModel model(world, "gen3.");
  WorldJudge judge(world);
  ASSERT_TRUE(RunIn(*store, "run", model, judge).ok());
  ASSERT_EQ(store->FindRun("run")->status, "failed");
  const double before = model.billed_usd;
  ASSERT_TRUE(RunIn(*store, "run", model, judge).ok());
  const RunRecord record = *store->FindRun("run");
  EXPECT_EQ(record.status, "stopped");
  EXPECT_GT(model.billed_usd, before);
  EXPECT_NEAR(store->Usage(record.id)->cost_usd, model.billed_usd, 1e-9);
  EXPECT_EQ((*store->Call(record.id, model.failed_key))->status, "answered");
}

TEST(Population, EndsWhenNothingImprovesAnyMore) {
  RunOptions options = Searching(0, 1);
  options.patience = 6;
  MadeUpRun run(options);
  ASSERT_TRUE(run.Go().ok());
  const std::unique_ptr<RunStore> store = run.Open();
  const RunRecord record = *store->FindRun("run");
  EXPECT_EQ(record.status, "done");
  EXPECT_THAT((*store->Decision(record.id, "search"))->text,
              testing::HasSubstr("6 steps in a row brought no gain of 1%"));
}

}  // namespace
}  // namespace hone

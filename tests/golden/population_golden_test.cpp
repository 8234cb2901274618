// Runs the population search with the real Spine in a simulated world. A search killed at any step and
// resumed must end as if undisturbed, budgets must hold, and decisions must follow from the record.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "base/files.h"
#include "kill_harness.h"
#include "model/replay.h"
#include "pipeline/recorded_run.h"
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

// Takes up to a millisecond for an answer, and counts the requests that are under way.
class BusyModel : public WorldModel {
 public:
  using WorldModel::WorldModel;
  ModelReply Ask(const ModelRequest& request, const ModelProgress& progress) override {
    const int now = ++under_way_;
    int most = most_at_once_.load();
    while (now > most && !most_at_once_.compare_exchange_weak(most, now)) {
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200 + Sha256(request.key)[0] * 8));
    ModelReply reply = WorldModel::Ask(request, progress);
    --under_way_;
    return reply;
  }
  int most_at_once() const { return most_at_once_; }

 private:
  std::atomic<int> under_way_{0};
  std::atomic<int> most_at_once_{0};
};

// A run in its own store, which is open only during an operation on it. Steps and seeds of a run with a
// breadth of more than 1 really run side by side.
class MadeUpRun {
 public:
  explicit MadeUpRun(const RunOptions& options, const char* world = "even")
      : world_(WorldNamed(world, 5)),
        in_order_(options.breadth == 1),
        folder_(*TempFolder::Make("hone-population-")) {
    RunRecord run = NewRun("run", options);
    run.folder = (folder_.path() / "run").string();
    EXPECT_TRUE(Open()->AddRun(run).ok());
  }

  Result<RunEnd> Go(const Listener& listener = {}) {
    BusyModel model(world_, in_order_);
    WorldJudge judge(world_);
    HeardModel heard_model(model, listener);
    HeardJudge heard_judge(judge, listener);
    Result<RunEnd> end = RunIn(*Open(), "run", heard_model, heard_judge, WatcherOf(listener));
    most_at_once_ = model.most_at_once();
    return end;
  }
  // Requests at once, in the last session.
  int most_at_once() const { return most_at_once_; }

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
    for (const DecisionRecord& one : decisions)  // those on the second judgement contain seconds
      rows.insert(one.key + " " + one.text + " " + (one.phase == "confirm" ? "" : one.json));
    return rows;
  }

  std::unique_ptr<RunStore> Open() { return std::move(*RunStore::Open(folder_.path() / "hone.db")); }
  fs::path folder() const { return folder_.path(); }

  // All prompts in one text.
  std::string Prompts() {
    const std::unique_ptr<RunStore> store = Open();
    const std::vector<CallRecord> calls = *store->Calls(store->FindRun("run")->id);
    std::string all;
    for (const CallRecord& one : calls) all += one.prompt + "\n";
    return all;
  }

 private:
  const World world_;
  const bool in_order_;
  int most_at_once_ = 0;
  const TempFolder folder_;
};

// Prompts name the kinds of candidates. In the workshop they differ by the bottleneck.
void ExpectKindsByBottleneck(MadeUpRun& run) {
  const std::string prompts = run.Prompts();
  EXPECT_THAT(prompts, testing::HasSubstr(", bound by memory, "));
  EXPECT_THAT(prompts, testing::HasSubstr(", near the floor, "));
}

// The number of parallel steps, and the distance between kills. Killing at every step would take longer
// without testing more. Which of several parallel steps gets the last call of a budget depends on the
// threads, so searches of parallel steps end when nothing improves.
struct Killing {
  const char* world;
  int breadth;
  int calls;
  int patience;
  int stride;
  int replies = 1;  // per prompt
};
class KilledSearch : public testing::TestWithParam<Killing> {};

INSTANTIATE_TEST_SUITE_P(Searches, KilledSearch,
                         testing::Values(Killing{"even", 1, 16, 1000, 1}, Killing{"even", 3, 0, 5, 9},
                                         Killing{"even", 1, 9, 1000, 2, 3},
                                         Killing{"workshop", 1, 24, 1000, 8},
                                         Killing{"workshop", 3, 0, 5, 10}),
                         [](const auto& info) {
                           return fmt::format("{}Breadth{}Replies{}", info.param.world, info.param.breadth,
                                              info.param.replies);
                         });

TEST_P(KilledSearch, EndsAsIfNothingHadHappenedWhereverItIsKilled) {
  RunOptions options = Searching(GetParam().calls, GetParam().breadth);
  options.replies = GetParam().replies;
  options.patience = GetParam().patience;
  MadeUpRun undisturbed(options, GetParam().world);
  ASSERT_TRUE(undisturbed.Go().ok());
  const std::multiset<std::string> wanted = undisturbed.Rows();
  if (std::string(GetParam().world) == "workshop") ExpectKindsByBottleneck(undisturbed);
  EXPECT_EQ(undisturbed.most_at_once() > 1, options.breadth > 1);
  const int threads = options.breadth > 1 ? std::max(options.breadth, options.seeds) : 1;
  const int kills = KillAtEveryStep<MadeUpRun>(
      GetParam().stride, [&] { return MadeUpRun(options, GetParam().world); },
      [&](MadeUpRun& run) { EXPECT_EQ(run.Rows(), wanted); }, threads);
  EXPECT_GE(kills, 15);
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
  // A tuned candidate has the phase of its stage.
  EXPECT_GT(phases["stage_grid"] + phases["stage_block"] + phases["stage_memory"], 0);
  const std::vector<DecisionRecord> decisions = *store->Decisions(record.id);
  std::map<std::string, int> steps;
  for (const DecisionRecord& one : decisions)
    if (StepOf(one.key) > 0 && !EndsWith(one.key, ".end"))
      if (const Result<Json> json = ParseJson(one.json); json.ok()) ++steps[GetString(*json, "operator")];
  for (const Operator op : kOperators) EXPECT_GT(steps[NameOf(op)], 0) << NameOf(op);
  EXPECT_EQ(store->Usage(record.id)->calls, 90);
}

// The world's judge on another day: times differ by up to `noise`, by the file.
class NoisyJudge : public WorldJudge {
 public:
  NoisyJudge(const World& world, double noise) : WorldJudge(world), noise_(noise) {}
  Result<Judged> Judge(const CandidateFile& file, const Progress& progress) override {
    Result<Judged> judged = WorldJudge::Judge(file, progress);
    Verdict& verdict = judged->verdict;
    if (file.source == refused) {
      verdict = Verdict();
      verdict.verdict = "rejected";
      verdict.reason = "wrong-output";
    } else if (verdict.vs_best.estimate > 0) {
      Random random(std::stoull(Sha256(file.source).substr(0, 15), nullptr, 16));
      const double factor = 1 + noise_ * (2 * Uniform(&random) - 1);
      verdict.vs_best = {verdict.vs_best.estimate * factor, verdict.vs_best.low * factor,
                         verdict.vs_best.high * factor};
      verdict.vs_eager = verdict.vs_best;
      verdict.candidate_us /= factor;
    }
    judged->record = ToJson(verdict);
    return judged;
  }
  std::string refused;  // a file that does not work on that day

 private:
  double noise_;
};

// A run, its recording, and what a playback of that comes to.
class PlayedBack {
 public:
  explicit PlayedBack(const RunOptions& options, const char* world = "even")
      : first_(options, world), world_(world) {
    EXPECT_TRUE(first_.Go().ok());
    const std::unique_ptr<RunStore> store = first_.Open();
    const RunRecord run = *store->FindRun("run");
    const Result<size_t> replies = WriteRecording(*store, run, folder());
    EXPECT_TRUE(replies.ok());
    options_ = ReplayOptions(RunOptionsFromJson(*ParseJson(run.options)), run,
                             store->CallSummaries(run.id)->size(), folder().string());
    options_.follow = *ReadRecordedSteps(folder());
  }

  fs::path folder() const { return first_.folder() / "recording"; }
  MadeUpRun& first() { return first_; }

  // `choosing`: as if the recording had no steps.
  std::unique_ptr<MadeUpRun> Play(CandidateJudge& judge, bool choosing = false) {
    RunOptions options = options_;
    if (choosing) options.follow.clear();
    auto run = std::make_unique<MadeUpRun>(options, world_);
    const std::unique_ptr<Model> model = std::move(*OpenReplay(folder()));
    EXPECT_TRUE(RunIn(*run->Open(), "run", *model, judge).ok());
    return run;
  }

 private:
  MadeUpRun first_;
  const char* world_;
  RunOptions options_;
};

// Prompts as well, or keys alone.
std::map<std::string, std::string> CallsOf(MadeUpRun& run, bool with_prompts) {
  const std::unique_ptr<RunStore> store = run.Open();
  const std::vector<CallRecord> all = *store->Calls(store->FindRun("run")->id);
  std::map<std::string, std::string> calls;
  for (const CallRecord& one : all) calls[one.key] = (with_prompts ? one.prompt : "") + one.reply;
  return calls;
}

std::map<std::string, std::string> FilesOf(MadeUpRun& run) {
  const std::unique_ptr<RunStore> store = run.Open();
  const std::vector<CandidateRecord> all = *store->Candidates(store->FindRun("run")->id);
  std::map<std::string, std::string> files;
  for (const CandidateRecord& one : all)
    files[one.key] = one.parent_key + " " + one.other_parent_key + " " + one.source;
  return files;
}

std::string DecisionOf(MadeUpRun& run, const std::string& key) {
  const std::unique_ptr<RunStore> store = run.Open();
  const std::optional<DecisionRecord> decision = *store->Decision(store->FindRun("run")->id, key);
  return decision ? decision->text : "";
}

// How the recorded run ended: by calls, or by money, which a playback does not spend.
RunOptions EndingBy(bool money, int breadth, int replies) {
  RunOptions options = Searching(money ? 0 : 40, breadth);
  options.replies = replies;
  if (money) options.budget.usd = 0.7;
  return options;
}

TEST(PlayedBackSearch, AsksTheSameWhereTheVerdictsAreTheSame) {
  const World world = WorldNamed("even", 5);
  for (const bool money : {false, true})
    for (const int breadth : {1, 3})
      for (const int replies : {1, 2}) {
        SCOPED_TRACE(fmt::format("money {}, breadth {}, replies {}", money, breadth, replies));
        PlayedBack recorded(EndingBy(money, breadth, replies));
        // The calls of a budget of money go one by one; the replies of a call do not.
        EXPECT_EQ(recorded.first().most_at_once() > 1, breadth > 1 && !(money && replies == 1));
        WorldJudge judge(world);
        const std::unique_ptr<MadeUpRun> again = recorded.Play(judge);
        EXPECT_EQ(CallsOf(*again, true), CallsOf(recorded.first(), true));
        EXPECT_EQ(FilesOf(*again), FilesOf(recorded.first()));
        EXPECT_THAT(CallsOf(*again, false), testing::SizeIs(testing::Ge(20u)));
      }
}

// With numbers to tune, mechanical repair and kinds by bottleneck. A step that tunes numbers makes no call,
// so a playback does not know where a budget stopped one. Here nothing stops a step.
TEST(PlayedBackSearch, AsksTheSameInTheWorkshop) {
  for (const int breadth : {1, 3}) {
    SCOPED_TRACE(fmt::format("breadth {}", breadth));
    RunOptions options = Searching(0, breadth);
    options.patience = 9;
    PlayedBack recorded(options, "workshop");
    ExpectKindsByBottleneck(recorded.first());
    WorldJudge judge(WorldNamed("workshop", 5));
    const std::unique_ptr<MadeUpRun> again = recorded.Play(judge);
    EXPECT_EQ(CallsOf(*again, true), CallsOf(recorded.first(), true));
    EXPECT_EQ(FilesOf(*again), FilesOf(recorded.first()));
    EXPECT_THAT(CallsOf(*again, false), testing::SizeIs(testing::Ge(15u)));
  }
}

TEST(PlayedBackSearch, TakesTheRecordedStepsAlthoughTimesDiffer) {
  for (const double noise : {0.03, 0.1}) {
    PlayedBack recorded(EndingBy(false, 1, 1));
    NoisyJudge judge(WorldNamed("even", 5), noise);
    const std::unique_ptr<MadeUpRun> again = recorded.Play(judge);
    EXPECT_EQ(CallsOf(*again, false), CallsOf(recorded.first(), false));
    EXPECT_EQ(FilesOf(*again), FilesOf(recorded.first()));
    // Chosen anew, the steps would be others.
    const std::unique_ptr<MadeUpRun> chosen = recorded.Play(judge, true);
    EXPECT_NE(FilesOf(*chosen), FilesOf(recorded.first())) << noise;
  }
}

TEST(PlayedBackSearch, SaysWhichStepsTheVerdictsDoNotAllow) {
  PlayedBack recorded(EndingBy(false, 1, 1));
  // The first file of the search that was a parent does not work on the other day.
  NoisyJudge judge(WorldNamed("even", 5), 0.02);
  std::string parent, of;
  {
    const std::unique_ptr<RunStore> store = recorded.first().Open();
    const std::vector<CandidateRecord> all = *store->Candidates(store->FindRun("run")->id);
    for (const CandidateRecord& one : all)
      for (const CandidateRecord& other : all)
        if (parent.empty() && StepOf(one.key) > 0 && one.right() && other.parent_key == one.key &&
            StepOf(other.key) > 0) {
          parent = one.key;
          of = other.key.substr(0, other.key.find('.'));
          judge.refused = one.source;
        }
  }
  ASSERT_FALSE(parent.empty());
  const std::unique_ptr<MadeUpRun> again = recorded.Play(judge);
  EXPECT_THAT(DecisionOf(*again, of), testing::HasSubstr("is left out: " + parent + " does not work here"));
  EXPECT_THAT(DecisionOf(*again, of + ".end"), testing::HasSubstr("nothing was made"));
  EXPECT_THAT(DecisionOf(*again, "search"), testing::HasSubstr("could not be followed: "));
  EXPECT_THAT(DecisionOf(*again, "search"), testing::HasSubstr(of));
  // What was asked is a part of the recording, each with its own reply.
  const std::map<std::string, std::string> asked = CallsOf(*again, false);
  const std::map<std::string, std::string> first = CallsOf(recorded.first(), false);
  EXPECT_LT(asked.size(), first.size());
  for (const auto& [key, reply] : asked) {
    ASSERT_EQ(first.count(key), 1u) << key;
    EXPECT_EQ(reply, first.at(key)) << key;
  }
}

TEST(PlayedBackSearch, AResumedPlaybackFollowsOnWithoutTheFile) {
  PlayedBack recorded(EndingBy(false, 1, 1));
  NoisyJudge judge(WorldNamed("even", 5), 0.1);
  const std::unique_ptr<MadeUpRun> undisturbed = recorded.Play(judge);
  fs::remove(recorded.folder() / "search.json");
  RunOptions halfway = RunOptionsFromJson(*ParseJson(undisturbed->Open()->FindRun("run")->options));
  ASSERT_THAT(halfway.follow, testing::SizeIs(testing::Gt(10u)));
  const int calls = halfway.budget.calls;
  halfway.budget.calls = 20;
  MadeUpRun run(halfway);
  for (const int most : {20, calls}) {
    const std::unique_ptr<RunStore> store = run.Open();
    RunRecord record = *store->FindRun("run");
    halfway.budget.calls = most;
    record.options = DumpJson(ToJson(halfway));
    ASSERT_TRUE(store->UpdateRun(record).ok());
    const std::unique_ptr<Model> model = std::move(*OpenReplay(recorded.folder()));
    ASSERT_TRUE(RunIn(*store, "run", *model, judge).ok());
  }
  EXPECT_EQ(CallsOf(run, true), CallsOf(*undisturbed, true));
  EXPECT_EQ(FilesOf(run), FilesOf(*undisturbed));
}

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
      // Steps side by side reach the store in any order, so the last call is not known.
      double spent = 0;
      double dearest = 0;
      for (const CallRecord& one : calls) {
        spent += one.cost_usd;
        dearest = std::max(dearest, one.cost_usd);
      }
      EXPECT_LT(spent - (breadth == 1 ? calls.back().cost_usd : dearest), usd)
          << "the last call began within the budget";
      EXPECT_GE(spent, usd) << "and nothing of it was left";
      EXPECT_EQ(run.most_at_once(), 1) << "what a call costs is not known before it ends";
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

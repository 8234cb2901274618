// The population search by the real Spine in a made-up world: killed at every step of its way and resumed it
// has to end as if nothing had happened, budgets hold, and what was decided follows from the record.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <map>
#include <set>

#include "base/files.h"
#include "model/replies.h"
#include "search_world.h"

namespace hone {
namespace {

using namespace search_world;

struct Listener {
  std::function<void()> step = [] {};
  std::function<void(const std::string& what)> asked = [](const std::string&) {};
};

class HeardModel : public WorldModel {
 public:
  HeardModel(const World& world, const Listener& listener) : WorldModel(world), listener_(listener) {}
  ModelReply Ask(const ModelRequest& request, const ModelProgress& progress) override {
    listener_.step();
    listener_.asked("call " + request.key);
    ModelReply reply = WorldModel::Ask(request, progress);
    listener_.step();
    return reply;
  }
  // All in one request.
  ModelReply AskForSeveral(const ModelRequest& request, int n, const ModelProgress& progress) override {
    listener_.step();
    listener_.asked("call " + request.key);
    std::vector<ModelReply> replies;
    for (int number = 1; number <= n; ++number) {
      ModelRequest one = request;
      one.key = ReplyKey(request.key, number);
      replies.push_back(WorldModel::Ask(one, progress));
    }
    listener_.step();
    return MergeReplies(std::move(replies));
  }

 private:
  const Listener& listener_;
};

class HeardJudge : public WorldJudge {
 public:
  HeardJudge(const World& world, const Listener& listener) : WorldJudge(world), listener_(listener) {}
  Result<Judged> Judge(const CandidateFile& file, const Progress& progress) override {
    listener_.step();
    listener_.asked("verdict on " + file.name);
    Result<Judged> judged = WorldJudge::Judge(file, progress);
    listener_.step();
    return judged;
  }

 private:
  const Listener& listener_;
};

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

// A run in a store of its own, which is open only while something is done with it.
class MadeUpRun {
 public:
  explicit MadeUpRun(const RunOptions& options) : folder_(*TempFolder::Make("hone-population-")) {
    RunRecord run = NewRun("run", options);
    run.folder = (folder_.path() / "run").string();
    EXPECT_TRUE(Open()->AddRun(run).ok());
  }

  Result<RunEnd> Go(const Listener& listener = {}) {
    const World world = WorldNamed("even", 5);
    HeardModel model(world, listener);
    HeardJudge judge(world, listener);
    RunWatcher watcher;
    watcher.said = [&](const std::string&) { listener.step(); };
    watcher.judged = [&](const CandidateRecord&) { listener.step(); };
    return RunIn(*Open(), "run", model, judge, watcher);
  }

  // All that was asked, made and decided, without times.
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

std::map<std::string, int> CountLines(const fs::path& file) {
  std::map<std::string, int> count;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) ++count[line];
  return count;
}

// In a process of its own, which kills itself at the given step. False: it had fewer steps.
bool GoKilledAt(MadeUpRun* run, int step, const Listener& listener) {
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int> left = step;
    Listener deadly = listener;
    deadly.step = [&left] {
      if (--left == 0) kill(getpid(), SIGKILL);
    };
    _exit(run->Go(deadly).ok() ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << "step " << step;
  return WIFSIGNALED(status);
}

// How many steps are made side by side, and how far the moments are apart: at every one it would take longer
// and say no more.
struct Killing {
  int breadth;
  int calls;
  int stride;
  int replies = 1;  // to a prompt
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
  int moments = 0;
  bool killed = true;
  for (int step = 1; killed; step += GetParam().stride) {
    SCOPED_TRACE(fmt::format("killed at step {}", step));
    MadeUpRun run(options);
    const fs::path log = run.folder() / "asked.log";
    Listener listener;
    listener.asked = [&log](const std::string& what) { std::ofstream(log, std::ios::app) << what << "\n"; };
    killed = GoKilledAt(&run, step, listener);
    moments += killed ? 1 : 0;
    const Result<RunEnd> end = run.Go(listener);
    ASSERT_TRUE(end.ok()) << end.error().message;
    EXPECT_EQ(run.Rows(), wanted);
    int again = 0;
    for (const auto& [what, times] : CountLines(log)) again += times - 1;
    EXPECT_LE(again, killed ? 1 : 0);
    if (HasFailure()) return;
  }
  EXPECT_GE(moments, 25);
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

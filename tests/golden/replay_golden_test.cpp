// Recorded runs of the real judge (reports/NAME.json), played again: the spine gets the recorded replies and
// verdicts and has to ask the same questions, make the same candidates and keep the same best. So every
// branch of the pipeline is walked with real verdicts, without a judge. Some of them are killed at every step
// of their way and resumed, and have to end as if nothing had happened.
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
#include "base/json.h"
#include "base/text.h"
#include "pipeline/spine.h"

namespace hone {
namespace {

const Json* Find(const Json& rows, const char* field, const std::string& value) {
  for (const Json& row : rows)
    if (GetString(row, field) == value) return &row;
  return nullptr;
}

// What the test hears of a run on its way: a step, before and after each question and each verdict and with
// every line of the console, and each question and each candidate that was handed over.
struct Listener {
  std::function<void()> step = [] {};
  std::function<void(const std::string& what)> asked = [](const std::string&) {};
};

class RecordedModel : public Model {
 public:
  RecordedModel(const Json& calls, const Listener& listener) : calls_(calls), listener_(listener) {}
  ModelReply Ask(const ModelRequest& request, const ModelProgress&) override {
    listener_.step();
    listener_.asked("call " + request.key);
    ModelReply reply = Answer(request);
    listener_.step();
    return reply;
  }
  std::string name() const override { return "the record"; }
  bool order_matters() const override { return true; }

 private:
  ModelReply Answer(const ModelRequest& request) const {
    ModelReply reply;
    const Json* call = Find(calls_, "key", request.key);
    if (call == nullptr) ADD_FAILURE() << "never asked in the recorded run: " << request.key;
    if (call == nullptr || GetString(*call, "status") != "answered") {
      reply.failure = ModelFailure::kExhausted;
      reply.message = "no reply is recorded";
      return reply;
    }
    EXPECT_EQ(GetString(*call, "call_type"), request.call_type) << request.key;
    EXPECT_FALSE(request.prompt.empty());
    reply.text = GetString(*call, "reply");
    reply.finish_reason = "stop";
    return reply;
  }

  const Json& calls_;
  const Listener& listener_;
};

class RecordedJudge : public CandidateJudge {
 public:
  RecordedJudge(const Json& story, const Listener& listener) : story_(story), listener_(listener) {}

  void EndAt(Deadline) override {}
  Result<TaskContext> Context(const Progress&) override {
    TaskContext context = TaskContextFromJson(GetMember(GetMember(story_, "run"), "card"));
    context.machine = {{"device", "cpu"}};
    context.facts = Json::object();
    return context;
  }

  Result<Judged> Judge(const CandidateFile& candidate, const Progress&) override {
    listener_.step();
    listener_.asked("verdict on " + candidate.name);
    Result<Judged> judged = Verdict(candidate);
    listener_.step();
    return judged;
  }

  // A look is recorded under the numbers that were tried, and the numbers are in the source.
  Result<QuickLook> Look(const CandidateFile& candidate, const Progress&) override {
    listener_.step();
    for (const Json& row : GetMember(story_, "decisions")) {
      const std::string key = GetString(row, "key");
      const size_t at = key.find("ROWS=");
      if (!StartsWith(key, "look:") || at == std::string::npos) continue;
      if (!Contains(candidate.source, "ROWS = " + key.substr(at + 5) + "\n")) continue;
      const Json& seen = GetMember(row, "json");
      return QuickLook{GetBool(seen, "right"), GetString(seen, "why"), GetNumber(seen, "call_us")};
    }
    return Error{ErrorKind::kInternal, "never looked at in the recorded run: " + candidate.name};
  }

  Result<KernelProfile> Profile(const CandidateFile&) override {
    return KernelProfile{"no profiler here", {}};
  }

 private:
  Result<Judged> Verdict(const CandidateFile& candidate) const {
    const Json* row = Find(GetMember(story_, "candidates"), "source", candidate.source);
    if (row == nullptr)
      return Error{ErrorKind::kInternal, "never judged in the recorded run: " + candidate.name};
    Judged out;
    out.verdict.verdict = GetString(*row, "verdict");
    out.verdict.reason = GetString(*row, "reason");
    out.verdict.detail = GetString(*row, "detail");
    out.verdict.vs_best = {GetNumber(*row, "vs_best"), GetNumber(*row, "ci_low"), GetNumber(*row, "ci_high")};
    out.verdict.vs_eager = {GetNumber(*row, "vs_eager"), GetNumber(*row, "vs_eager"),
                            GetNumber(*row, "vs_eager")};
    out.verdict.candidate_us = GetNumber(*row, "candidate_us");
    out.record = ToJson(out.verdict);
    return out;
  }

  const Json& story_;
  const Listener& listener_;
};

// keep_pytorch is not among them: since it was frozen, a plan that calls a large gap "not worth it" is sent
// back.
class ReplayGolden : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Runs, ReplayGolden,
                         testing::Values("seeds_fine", "repaired", "exhausted", "no_code",
                                         "analysis_corrected", "algorithm_wins", "algorithm_fails", "tuning",
                                         "persistent", "compiled", "stopped"),
                         [](const auto& info) { return std::string(info.param); });

// "key < parent (phase): verdict, reason" of each candidate; the keys of calls and decisions; the end.
struct Story {
  std::multiset<std::string> candidates;
  std::set<std::string> calls;
  std::set<std::string> decisions;
  std::string status;
  std::string best;
  double vs_best = 0;
};

void ExpectSame(const Story& found, const Story& wanted) {
  EXPECT_EQ(found.candidates, wanted.candidates);
  EXPECT_EQ(found.calls, wanted.calls);
  EXPECT_EQ(found.decisions, wanted.decisions);
  EXPECT_EQ(found.status, wanted.status);
  EXPECT_EQ(found.best, wanted.best);
  EXPECT_EQ(found.vs_best, wanted.vs_best);
}

// A recorded run and a folder to play it in. The store is open only while something is done with it, so that
// a process can be forked and killed in between.
class Replay {
 public:
  explicit Replay(const std::string& name)
      : story_(*ParseJson(
            *ReadFile(fs::path(HONE_SOURCE_DIR) / "tests" / "golden" / "reports" / (name + ".json")))),
        folder_(*TempFolder::Make("hone-replay-golden-")) {
    const Json& recorded = GetMember(story_, "run");
    RunRecord run;
    run.name = "again";
    run.created = "now";
    run.status = "running";
    run.task = GetString(recorded, "task");
    run.task_source = GetString(recorded, "task_source");
    run.target = "cpu";
    run.proposer = GetString(recorded, "proposer");
    run.folder = (folder_.path() / "run").string();
    run.options = DumpJson(GetMember(recorded, "options"));
    EXPECT_TRUE(Open()->AddRun(run).ok());
  }

  Result<RunEnd> Run(const Listener& listener = {}) {
    const std::unique_ptr<RunStore> store = Open();
    RunRecord run = *store->FindRun("again");
    const TaskFile task{folder_.path() / (run.task + ".py"), run.task, run.task_source, "x"};
    RecordedModel model(GetMember(story_, "calls"), listener);
    RecordedJudge judge(story_, listener);
    RunWatcher watcher;
    watcher.said = [&](const std::string&) { listener.step(); };
    watcher.judged = [&](const CandidateRecord&) { listener.step(); };
    Recorder recorder(*store, run, watcher);
    const Json& options = GetMember(GetMember(story_, "run"), "options");
    return Spine(recorder, judge, &model, task, RunOptionsFromJson(options)).Run();
  }

  // As it was recorded.
  Story Wanted() const {
    Story wanted;
    const Json& run = GetMember(story_, "run");
    for (const Json& row : GetMember(story_, "candidates"))
      wanted.candidates.insert(fmt::format("{} < {} ({}, {}): {}, {}", GetString(row, "key"),
                                           GetString(row, "parent_key"), GetString(row, "phase"),
                                           GetString(row, "kernel_class"), GetString(row, "verdict"),
                                           GetString(row, "reason")));
    for (const Json& row : GetMember(story_, "calls")) wanted.calls.insert(GetString(row, "key"));
    for (const Json& row : GetMember(story_, "decisions")) wanted.decisions.insert(GetString(row, "key"));
    wanted.status = GetString(run, "status");
    wanted.best = GetString(run, "best_key");
    wanted.vs_best = GetNumber(run, "vs_best");
    return wanted;
  }

  // As it is in the store now.
  Story Found() {
    Story found;
    const std::unique_ptr<RunStore> store = Open();
    const RunRecord run = *store->FindRun("again");
    const std::vector<CandidateRecord> candidates = *store->Candidates(run.id);
    for (const CandidateRecord& one : candidates)
      found.candidates.insert(fmt::format("{} < {} ({}, {}): {}, {}", one.key, one.parent_key, one.phase,
                                          one.kernel_class, one.verdict, one.reason));
    const std::vector<CallRecord> calls = *store->Calls(run.id);
    for (const CallRecord& one : calls) found.calls.insert(one.key);
    const std::vector<DecisionRecord> decisions = *store->Decisions(run.id);
    for (const DecisionRecord& one : decisions) found.decisions.insert(one.key);
    found.status = run.status;
    found.best = run.best_key;
    found.vs_best = run.vs_best;
    return found;
  }

  fs::path folder() const { return folder_.path(); }

 private:
  std::unique_ptr<RunStore> Open() { return std::move(*RunStore::Open(folder_.path() / "hone.db")); }

  const Json story_;
  const TempFolder folder_;
};

TEST_P(ReplayGolden, TheSpineGoesTheSameWayAgain) {
  Replay replay(GetParam());
  const Result<RunEnd> end = replay.Run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  ExpectSame(replay.Found(), replay.Wanted());
  const bool none =
      Contains(end->outcome, "keep PyTorch") || Contains(end->outcome, "no candidate was right");
  EXPECT_EQ(none, replay.Wanted().best.empty()) << end->outcome;
  EXPECT_EQ(end->best ? end->best->key : "", replay.Wanted().best);
  EXPECT_TRUE(fs::exists(replay.folder() / "run" / "best.py"));
}

class KilledReplay : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Runs, KilledReplay,
                         testing::Values("seeds_fine", "repaired", "analysis_corrected", "algorithm_fails",
                                         "tuning"),
                         [](const auto& info) { return std::string(info.param); });

// How often each line is in the file.
std::map<std::string, int> CountLines(const fs::path& file) {
  std::map<std::string, int> count;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) ++count[line];
  return count;
}

// Plays the run in a process of its own that kills itself at the given step. False: it had fewer steps.
bool RunKilledAt(Replay* replay, int step, const Listener& listener) {
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int> left = step;
    Listener deadly = listener;
    deadly.step = [&left] {
      if (--left == 0) kill(getpid(), SIGKILL);
    };
    _exit(replay->Run(deadly).ok() ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << "step " << step;
  return WIFSIGNALED(status);
}

TEST_P(KilledReplay, EndsAsIfNothingHadHappenedWhereverItIsKilled) {
  int step = 1;
  for (bool killed = true; killed; ++step) {
    SCOPED_TRACE(fmt::format("killed at step {}", step));
    Replay replay(GetParam());
    const fs::path log = replay.folder() / "asked.log";
    Listener listener;
    listener.asked = [&log](const std::string& what) { std::ofstream(log, std::ios::app) << what << "\n"; };
    killed = RunKilledAt(&replay, step, listener);
    const Result<RunEnd> end = replay.Run(listener);
    ASSERT_TRUE(end.ok()) << end.error().message;
    ExpectSame(replay.Found(), replay.Wanted());
    // Only what was on its way is asked for again; what had been answered is in the store.
    int again = 0;
    for (const auto& [what, times] : CountLines(log)) again += times - 1;
    EXPECT_LE(again, killed ? 1 : 0);
    EXPECT_TRUE(fs::exists(replay.folder() / "run" / "best.py"));
    if (HasFailure()) return;
  }
  EXPECT_GT(step, 10);
}

}  // namespace
}  // namespace hone

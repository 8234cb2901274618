// Replays recorded runs of the real judge (reports/NAME.json). It holds two claims. Given the recorded
// replies and verdicts, the spine makes the same requests, candidates and decisions, by their keys, and keeps
// the same best. A run that is killed at any step and resumed ends as if undisturbed. What a prompt or a
// decision says, and each rule by itself, is in src/pipeline/spine_test.cpp and its like.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "kill_harness.h"
#include "pipeline/spine.h"

namespace hone {
namespace {

const Json* Find(const Json& rows, const char* field, const std::string& value) {
  for (const Json& row : rows)
    if (GetString(row, field) == value) return &row;
  return nullptr;
}

class RecordedModel : public Model {
 public:
  explicit RecordedModel(const Json& calls) : calls_(calls) {}
  ModelReply Ask(const ModelRequest& request, const ModelProgress&) override {
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
  std::string name() const override { return "the record"; }
  bool order_matters() const override { return true; }

 private:
  const Json& calls_;
};

class RecordedJudge : public CandidateJudge {
 public:
  explicit RecordedJudge(const Json& story) : story_(story) {}

  void EndAt(Deadline) override {}
  Result<TaskContext> Context(const Progress&) override {
    TaskContext context = TaskContextFromJson(GetMember(GetMember(story_, "run"), "card"));
    context.machine = {{"device", "cpu"}};
    context.facts = Json::object();
    return context;
  }

  Result<Judged> Judge(const CandidateFile& candidate, const Progress&) override {
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

  // A screening run is recorded under the numbers that were tried, and the source contains the numbers.
  Result<QuickLook> Look(const CandidateFile& candidate, const Progress&) override {
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
  const Json& story_;
};

// keep_pytorch is left out: since it was recorded, a plan that calls a large gap "not worth it" is sent back.
class ReplayGolden : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Runs, ReplayGolden,
                         testing::Values("seeds_fine", "repaired", "exhausted", "no_code",
                                         "analysis_corrected", "algorithm_wins", "algorithm_fails", "tuning",
                                         "persistent", "compiled", "stopped"),
                         [](const auto& info) { return std::string(info.param); });

// "key < parent (phase): verdict, reason" for each candidate; the keys of calls and decisions; the result.
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

// A recorded run and a folder to replay it in. The store is open only during an operation, so that a process
// can be forked and killed in between.
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

  Result<RunEnd> Go(const Listener& listener = {}) {
    const std::unique_ptr<RunStore> store = Open();
    RunRecord run = *store->FindRun("again");
    const TaskFile task{folder_.path() / (run.task + ".py"), run.task, run.task_source, "x"};
    RecordedModel model(GetMember(story_, "calls"));
    RecordedJudge judge(story_);
    HeardModel heard_model(model, listener);
    HeardJudge heard_judge(judge, listener);
    Recorder recorder(*store, run, WatcherOf(listener));
    const Json& options = GetMember(GetMember(story_, "run"), "options");
    return Spine(recorder, heard_judge, &heard_model, task, RunOptionsFromJson(options)).Run();
  }

  // The recorded story.
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

  // The story in the store now.
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
  const Result<RunEnd> end = replay.Go();
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

TEST_P(KilledReplay, EndsAsIfNothingHadHappenedWhereverItIsKilled) {
  const int kills = KillAtEveryStep<Replay>(
      1, [] { return Replay(GetParam()); },
      [](Replay& replay) {
        ExpectSame(replay.Found(), replay.Wanted());
        EXPECT_TRUE(fs::exists(replay.folder() / "run" / "best.py"));
      });
  EXPECT_GE(kills, 10);
}

}  // namespace
}  // namespace hone

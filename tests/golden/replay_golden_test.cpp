// Recorded runs of the real judge (reports/NAME.json), played again: the spine gets the recorded replies and
// verdicts and has to ask the same questions, make the same candidates and keep the same best. So every
// branch of the pipeline is walked with real verdicts, without a judge.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

  // A look is recorded under the numbers that were tried, and the numbers are in the source.
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

// keep_pytorch is not among them: since it was frozen, a plan that calls a large gap "not worth it" is sent
// back.
class ReplayGolden : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Runs, ReplayGolden,
                         testing::Values("seeds_fine", "repaired", "exhausted", "no_code",
                                         "analysis_corrected", "algorithm_wins", "algorithm_fails", "tuning",
                                         "persistent", "compiled", "stopped"),
                         [](const auto& info) { return std::string(info.param); });

// "key < parent (phase): verdict, reason" of each candidate; the keys of calls and decisions.
struct Story {
  std::vector<std::string> candidates;
  std::set<std::string> calls;
  std::set<std::string> decisions;
};

TEST_P(ReplayGolden, TheSpineGoesTheSameWayAgain) {
  const fs::path file =
      fs::path(HONE_SOURCE_DIR) / "tests" / "golden" / "reports" / (std::string(GetParam()) + ".json");
  const Json story = *ParseJson(*ReadFile(file));
  const Json& recorded = GetMember(story, "run");
  Story wanted;
  for (const Json& row : GetMember(story, "candidates"))
    wanted.candidates.push_back(fmt::format("{} < {} ({}, {}): {}, {}", GetString(row, "key"),
                                            GetString(row, "parent_key"), GetString(row, "phase"),
                                            GetString(row, "kernel_class"), GetString(row, "verdict"),
                                            GetString(row, "reason")));
  for (const Json& row : GetMember(story, "calls")) wanted.calls.insert(GetString(row, "key"));
  for (const Json& row : GetMember(story, "decisions")) wanted.decisions.insert(GetString(row, "key"));

  const TempFolder folder = *TempFolder::Make("hone-replay-golden-");
  const std::unique_ptr<RunStore> store = std::move(*RunStore::Open(folder.path() / "hone.db"));
  RunRecord run;
  run.name = "again";
  run.created = "now";
  run.status = "running";
  run.task = GetString(recorded, "task");
  run.task_source = GetString(recorded, "task_source");
  run.target = "cpu";
  run.proposer = GetString(recorded, "proposer");
  run.folder = (folder.path() / "run").string();
  run.options = DumpJson(GetMember(recorded, "options"));
  run.id = *store->AddRun(run);

  const TaskFile task{folder.path() / (run.task + ".py"), run.task, run.task_source, "x"};
  RecordedModel model(GetMember(story, "calls"));
  RecordedJudge judge(story);
  Recorder recorder(*store, *store->FindRun("again"), {});
  const Result<RunEnd> end =
      Spine(recorder, judge, &model, task, RunOptionsFromJson(GetMember(recorded, "options"))).Run();
  ASSERT_TRUE(end.ok()) << end.error().message;

  Story found;
  const std::vector<CandidateRecord> candidates = *store->Candidates(run.id);
  for (const CandidateRecord& one : candidates)
    found.candidates.push_back(fmt::format("{} < {} ({}, {}): {}, {}", one.key, one.parent_key, one.phase,
                                           one.kernel_class, one.verdict, one.reason));
  const std::vector<CallRecord> calls = *store->Calls(run.id);
  for (const CallRecord& one : calls) found.calls.insert(one.key);
  const std::vector<DecisionRecord> decisions = *store->Decisions(run.id);
  for (const DecisionRecord& one : decisions) found.decisions.insert(one.key);
  EXPECT_THAT(found.candidates, testing::UnorderedElementsAreArray(wanted.candidates));
  EXPECT_EQ(found.calls, wanted.calls);
  EXPECT_EQ(found.decisions, wanted.decisions);
  EXPECT_EQ(end->status, GetString(recorded, "status"));
  const bool none =
      Contains(end->outcome, "keep PyTorch") || Contains(end->outcome, "no candidate was right");
  EXPECT_EQ(none, GetString(recorded, "best_key").empty()) << end->outcome;
  EXPECT_EQ(end->best ? end->best->key : "", GetString(recorded, "best_key"));
  EXPECT_EQ(store->FindRun("again")->vs_best, GetNumber(recorded, "vs_best"));
  EXPECT_TRUE(fs::exists(folder.path() / "run" / "best.py"));
}

}  // namespace
}  // namespace hone

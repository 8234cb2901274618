// Tests an agent's session with a function instead of the agent and a judge that reads its verdict from the
// file: what is recorded, what counts, what is refused, and how a run resumes after it was stopped. The last
// tests run AgentProcess with real programs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

#include "base/text.h"
#include "pipeline/agent_folder.h"
#include "pipeline/spine.h"

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string FateFile(const std::string& fate) {
  return "# fate: " + fate + "\nimport torch\nclass ModelNew(torch.nn.Module):\n    pass\n";
}

class FateJudge : public CandidateJudge {
 public:
  void EndAt(Deadline) override {}
  Result<TaskContext> Context(const Progress&) override {
    TaskContext context;
    context.card = {{"modules", Json::object()}, {"operators", {{"addmm", 1}}}, {"flops", 1e6}};
    context.device = {{"name", "a machine"}};
    context.device_name = "a machine";
    context.best_us = 100;
    return context;
  }
  Result<Judged> Judge(const CandidateFile& candidate, const Progress&) override {
    const int now = ++inside;
    most_inside = std::max(most_inside.load(), now);
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    judged.push_back(candidate.name);
    --inside;
    if (broken) return Error{ErrorKind::kIo, "the disk is full"};
    if (interrupted) return OutOfTimeError();
    const size_t at = candidate.source.find("# fate: ") + 8;
    const std::vector<std::string> fate =
        Split(candidate.source.substr(at, candidate.source.find('\n', at) - at), ' ');
    Judged out;
    const double speed = fate.size() > 1 ? std::stod(fate[1]) : 0;
    out.verdict.verdict = fate[0] == "accepted" ? "accepted" : "rejected";
    out.verdict.reason = fate[0] == "accepted" ? "faster" : fate[0];
    out.verdict.vs_best = {speed, speed * 0.99, speed * 1.01};
    out.verdict.vs_eager = out.verdict.vs_best;
    out.record = ToJson(out.verdict);
    return out;
  }
  Result<QuickLook> Look(const CandidateFile&, const Progress&) override { return QuickLook{}; }
  Result<KernelProfile> Profile(const CandidateFile&) override { return KernelProfile{}; }

  std::atomic<int> inside{0};
  std::atomic<int> most_inside{0};
  int pause_ms = 0;
  bool broken = false;
  bool interrupted = false;
  std::vector<std::string> judged;  // the stage judges one at a time
};

class ScriptedAgent : public AgentProgram {
 public:
  Result<AgentReport> Run(const AgentJob& job) override {
    ++starts;
    last = job;
    AgentReport report;
    report.exit.code = exit_code;
    report.exit.out = "thinking aloud\n";
    if (script) script(job);
    report.end = end;
    return report;
  }
  std::function<void(const AgentJob&)> script;
  AgentEnd end = AgentEnd::kByItself;
  AgentJob last;
  int starts = 0;
  int exit_code = 0;
};

class AgentStageTest : public testing::Test {
 protected:
  AgentStageTest() : folder_(*TempFolder::Make("hone-agent-")) {
    store_ = std::move(*RunStore::Open(folder_.path() / "hone.db"));
    task_ = TaskFile{folder_.path() / "t.py", "t", "import torch\nclass Model(torch.nn.Module):\n    pass\n",
                     "x"};
    RunRecord run;
    run.name = "run";
    run.created = "now";
    run.status = "running";
    run.task = "t";
    run.task_source = task_.source;
    run.target = "cpu";
    run.proposer = options_.proposer = "agent:/bin/true";
    run.folder = (folder_.path() / "run").string();
    run.options = "{}";
    id_ = *store_->AddRun(run);
  }

  Result<RunEnd> TryRun() {
    Recorder recorder(*store_, *store_->FindRun("run"), {});
    Spine spine(recorder, judge_, nullptr, task_, options_);
    spine.UseAgent(&agent_);
    return spine.Run();
  }
  RunEnd Run() {
    Result<RunEnd> end = TryRun();
    EXPECT_TRUE(end.ok()) << end.error().message;
    return end.ok() ? *end : RunEnd{};
  }

  static Json Ask(const AgentJob& job, const std::string& verb, const std::string& source,
                  const std::string& parent = "") {
    DeskRequest request;
    request.verb = verb;
    request.source = source;
    request.name = "mine.py";
    request.parent = parent;
    Result<Json> answer = AskDesk(job.folder, request);
    EXPECT_TRUE(answer.ok()) << answer.error().message;
    return answer.ok() ? *answer : Json();
  }

  std::vector<std::string> Candidates() {
    std::vector<std::string> lines;
    const std::vector<CandidateRecord> all = *store_->Candidates(id_);
    for (const CandidateRecord& one : all)
      if (one.key != "zero")
        lines.push_back(one.key + ":" + one.reason + (one.parent_key.empty() ? "" : "<" + one.parent_key));
    return lines;
  }

  TempFolder folder_;
  std::unique_ptr<RunStore> store_;
  TaskFile task_;
  RunOptions options_;
  FateJudge judge_;
  ScriptedAgent agent_;
  int64_t id_ = 0;
};

TEST_F(AgentStageTest, KeepsTheBestOfWhatTheAgentHadJudged) {
  std::string slow, good;
  agent_.script = [&](const AgentJob& job) {
    EXPECT_EQ(GetString(Ask(job, "bench", FateFile("wrong-output")), "verdict"), "rejected");
    slow = GetString(Ask(job, "bench", FateFile("slower 0.5"), "agent1"), "reason");
    const Json answer = Ask(job, "bench", FateFile("accepted 2.5"), "agent2");
    good = GetString(answer, "key") + " " + GetString(GetMember(answer, "record"), "verdict");
  };
  const RunEnd end = Run();
  EXPECT_EQ(end.status, "done");
  ASSERT_TRUE(end.best);
  EXPECT_EQ(end.best->key, "agent3");
  EXPECT_EQ(slow, "slower");
  EXPECT_EQ(good, "agent3 accepted");
  EXPECT_THAT(Candidates(),
              ElementsAre("agent1:wrong-output", "agent2:slower<agent1", "agent3:faster<agent2"));
  EXPECT_THAT(*ReadFile(folder_.path() / "run" / "best.py"), HasSubstr("# fate: accepted 2.5"));
  EXPECT_EQ(*ReadFile(folder_.path() / "run" / "llm" / "agent.sitting1.reply.txt"), "thinking aloud\n");
  const fs::path papers = folder_.path() / "run" / "agent";
  EXPECT_EQ(*ReadFile(papers / "task.py"), task_.source);
  EXPECT_THAT(*ReadFile(papers / "README.md"), HasSubstr("; then you are ended."));
  EXPECT_THAT(*ReadFile(papers / "CARD.md"), HasSubstr("a machine"));
  EXPECT_TRUE(ParseJson(*ReadFile(papers / "card.json")).ok());
  EXPECT_EQ(access((papers / "bench").c_str(), X_OK), 0);
}

TEST_F(AgentStageTest, TheSameBytesAreJudgedOnce) {
  agent_.script = [&](const AgentJob& job) {
    EXPECT_FALSE(GetBool(Ask(job, "bench", FateFile("accepted 2")), "recorded_before", true));
    const Json again = Ask(job, "bench", FateFile("accepted 2"));
    EXPECT_TRUE(GetBool(again, "recorded_before"));
    EXPECT_EQ(GetString(again, "key"), "agent1");
  };
  EXPECT_EQ(Run().status, "done");
  EXPECT_THAT(judge_.judged, ElementsAre("agent1"));
}

TEST_F(AgentStageTest, ASpentBudgetIsRefusedPolitelyAndALargerOneGoesOn) {
  options_.budget.evaluations = 2;
  agent_.script = [&](const AgentJob& job) {
    const Json first = Ask(job, "bench", FateFile("wrong-output"));
    EXPECT_EQ(GetInt(GetMember(first, "left"), "evaluations"), 1);
    Ask(job, "bench", FateFile("accepted 2"));
    const Json third = Ask(job, "bench", FateFile("accepted 9"));
    EXPECT_EQ(GetString(third, "status"), "refused");
    EXPECT_EQ(GetString(third, "message"), "the budget of 2 evaluations is spent");
    // Candidates with a verdict are still visible.
    EXPECT_EQ(GetString(Ask(job, "bench", FateFile("accepted 2")), "key"), "agent2");
    EXPECT_EQ(GetMember(Ask(job, "history", ""), "candidates").size(), 3u);
    EXPECT_TRUE(job.may_go_on());
  };
  RunEnd end = Run();
  EXPECT_EQ(end.status, "stopped");
  EXPECT_THAT(end.outcome, HasSubstr("the budget of 2 evaluations is spent"));
  ASSERT_TRUE(end.best);
  EXPECT_EQ(end.best->key, "agent2");
  EXPECT_THAT(Candidates(), ElementsAre("agent1:wrong-output", "agent2:faster"));

  options_.budget.evaluations = 3;
  agent_.script = [&](const AgentJob& job) {
    EXPECT_TRUE(GetBool(Ask(job, "bench", FateFile("wrong-output")), "recorded_before"));
    Ask(job, "bench", FateFile("accepted 9"));
  };
  end = Run();
  EXPECT_EQ(end.status, "done");
  EXPECT_EQ(end.best->key, "agent3");
  EXPECT_EQ(agent_.starts, 2);
  EXPECT_THAT(judge_.judged, ElementsAre("agent1", "agent2", "agent3"));
}

TEST_F(AgentStageTest, AResumedRunStartsTheAgentAgainAndRepeatsNoVerdict) {
  agent_.end = AgentEnd::kStopped;
  agent_.script = [&](const AgentJob& job) {
    Ask(job, "bench", FateFile("wrong-output"));
    ASSERT_TRUE(WriteFileAtomic(job.folder / "notes.txt", "mine").ok());
    judge_.interrupted = true;
    EXPECT_EQ(GetString(Ask(job, "bench", FateFile("accepted 2")), "status"), "refused");
  };
  Run();
  EXPECT_THAT(Candidates(), ElementsAre("agent1:wrong-output", "agent2:"));

  judge_.interrupted = false;
  judge_.judged.clear();
  agent_.end = AgentEnd::kByItself;
  agent_.script = [&](const AgentJob& job) {
    EXPECT_EQ(*ReadFile(job.folder / "notes.txt"), "mine");
    // Judged before the agent's process restarted.
    EXPECT_THAT(judge_.judged, ElementsAre("agent2"));
    EXPECT_TRUE(GetBool(Ask(job, "bench", FateFile("accepted 2")), "recorded_before"));
    Ask(job, "bench", FateFile("accepted 3"), "agent2");
  };
  const RunEnd end = Run();
  EXPECT_EQ(end.status, "done");
  EXPECT_EQ(end.best->key, "agent3");
  EXPECT_EQ(agent_.starts, 2);
  EXPECT_THAT(judge_.judged, ElementsAre("agent2", "agent3"));
}

TEST_F(AgentStageTest, OneFileIsJudgedAtATime) {
  judge_.pause_ms = 20;
  agent_.script = [&](const AgentJob& job) {
    std::vector<std::thread> askers;
    for (int i = 0; i < 5; ++i)
      askers.emplace_back([&job, i] { Ask(job, "bench", FateFile(fmt::format("accepted 1.{}", i))); });
    for (std::thread& asker : askers) asker.join();
  };
  EXPECT_EQ(Run().status, "done");
  EXPECT_EQ(judge_.judged.size(), 5u);
  EXPECT_EQ(judge_.most_inside, 1);
}

TEST_F(AgentStageTest, TimeIsTheLesserOfTheAgentsAndTheRuns) {
  agent_.script = [&](const AgentJob& job) { Ask(job, "bench", FateFile("wrong-output")); };
  options_.agent_minutes = 2;
  EXPECT_EQ(Run().status, "done");
  EXPECT_NEAR(agent_.last.deadline.seconds_left(), 120, 60);
  EXPECT_LE(agent_.last.deadline.seconds_left(), 120);
}

TEST_F(AgentStageTest, TheRunsMinutesEndTheAgentToo) {
  agent_.script = [&](const AgentJob& job) { EXPECT_LE(job.deadline.seconds_left(), 60); };
  options_.budget.minutes = 1;
  EXPECT_EQ(Run().status, "failed");
}

TEST_F(AgentStageTest, AnAgentThatHadNothingJudgedFailsTheRunWithItsLastWords) {
  agent_.exit_code = 7;
  const RunEnd end = Run();
  EXPECT_EQ(end.status, "failed");
  EXPECT_THAT(end.outcome, HasSubstr("it ended with exit code 7"));
  EXPECT_THAT(end.outcome, HasSubstr("thinking aloud"));
  // A retry is worthwhile.
  Run();
  EXPECT_EQ(agent_.starts, 2);
}

TEST_F(AgentStageTest, ABrokenJudgeIsAnErrorOfHone) {
  judge_.broken = true;
  agent_.script = [&](const AgentJob& job) {
    EXPECT_EQ(GetString(Ask(job, "bench", FateFile("accepted 2")), "status"), "refused");
    EXPECT_FALSE(job.may_go_on());
  };
  const Result<RunEnd> end = TryRun();
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().message, "the disk is full");
}

TEST_F(AgentStageTest, LintAnswersWithoutAnEvaluationAndAnUnknownParentIsSaid) {
  agent_.script = [&](const AgentJob& job) {
    const Json linted = Ask(job, "lint", "import torch\nclass ModelNew(:\n");
    EXPECT_EQ(GetString(linted, "status"), "linted");
    EXPECT_FALSE(GetMember(linted, "findings").empty());
    EXPECT_THAT(GetString(Ask(job, "bench", FateFile("wrong-output"), "agent99"), "remark"),
                HasSubstr("no candidate 'agent99'"));
  };
  EXPECT_EQ(Run().status, "done");
  EXPECT_THAT(Candidates(), ElementsAre("agent1:wrong-output"));
}

TEST(AgentFolder, IsWrittenAnewAndLeavesTheAgentsFilesAlone) {
  const TempFolder base = *TempFolder::Make("hone-agent-");
  const fs::path folder = base.path() / "it's here";
  ASSERT_TRUE(MakeFolders(folder).ok());
  ASSERT_TRUE(WriteFileAtomic(base.path() / "outside", "untouched").ok());
  fs::create_symlink(base.path() / "outside", folder / "README.md");
  ASSERT_TRUE(WriteFileAtomic(folder / "bench", "#!/bin/sh\necho forged\n").ok());
  ASSERT_TRUE(WriteFileAtomic(folder / "mine.py", "mine").ok());
  AgentPapers papers;
  papers.readme = "read me";
  papers.program = "/opt/my hone/hone";
  ASSERT_TRUE(WriteAgentFolder(folder, papers).ok());
  EXPECT_EQ(*ReadFile(base.path() / "outside"), "untouched");
  EXPECT_EQ(*ReadFile(folder / "README.md"), "read me");
  EXPECT_EQ(*ReadFile(folder / "mine.py"), "mine");
  EXPECT_EQ(*ReadFile(folder / "bench"),
            fmt::format("#!/bin/sh\nexec '/opt/my hone/hone' agent-ask bench --folder '{}' \"$@\"\n",
                        ReplaceAll(folder.string(), "'", "'\\''")));
}

TEST(AgentFolder, TheBudgetIsASentence) {
  EXPECT_EQ(BudgetSentence(0, 30), "You have 30 min 0 s; then you are ended.");
  EXPECT_THAT(BudgetSentence(1, 1), HasSubstr("at most 1 file."));
  EXPECT_THAT(BudgetSentence(12, 1), HasSubstr("at most 12 files."));
}

TEST(AgentCommand, IsSplitWithoutAShellAndItsProgramFoundFromAnywhere) {
  EXPECT_THAT(*AgentCommand("agent:sh -c 'a b' \"c d\""), ElementsAre("sh", "-c", "a b", "c d"));
  EXPECT_THAT(*AgentCommand("agent:/bin/../bin/sh x"), ElementsAre("/bin/sh", "x"));
  EXPECT_THAT(AgentCommand("agent:").error().message, HasSubstr("agent: names no program"));
  EXPECT_THAT(AgentCommand("agent:'open").error().message, HasSubstr("not closed"));
  EXPECT_THAT(AgentCommand("agent:/no/such/agent").error().message,
              HasSubstr("agent: '/no/such/agent' is not a program"));
}

AgentJob ShellJob(const fs::path& folder, const std::string& script, double seconds) {
  AgentJob job;
  job.argv = {"/bin/sh", "-c", script};
  job.folder = folder;
  job.deadline = Deadline::After(seconds);
  job.may_go_on = [] { return true; };
  return job;
}

TEST(AgentProcess, EndsByItselfInItsFolderWithItsOutputCapped) {
  const TempFolder folder = *TempFolder::Make("hone-agent-");
  const Result<AgentReport> report = AgentProcess().Run(
      ShellJob(folder.path(), "pwd >&2; head -c 3000000 /dev/zero | tr '\\0' x; exit 5", 60));
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->end, AgentEnd::kByItself);
  EXPECT_EQ(report->exit.code, 5);
  EXPECT_EQ(report->exit.err, folder.path().string() + "\n");
  EXPECT_LT(report->exit.out.size(), 2 * AgentProcess::kOutputCap);
  EXPECT_THAT(report->exit.out, HasSubstr("left out"));
}

// True if the process exists and is no zombie.
bool IsAlive(const fs::path& pid_file) {
  const Result<std::string> pid = ReadFile(pid_file);
  if (!pid.ok()) return false;
  std::FILE* file = std::fopen(fmt::format("/proc/{}/stat", Trim(*pid)).c_str(), "re");
  if (file == nullptr) return false;
  char state = 'X';
  const bool read = std::fscanf(file, "%*d (%*[^)]) %c", &state) == 1;
  std::fclose(file);
  return read && state != 'Z' && state != 'X';
}

TEST(AgentProcess, IsEndedAtTheDeadlineWithAllThatItStarted) {
  const TempFolder folder = *TempFolder::Make("hone-agent-");
  // One child ignores SIGTERM; one is an orphan in another session.
  const Result<AgentReport> report =
      AgentProcess().Run(ShellJob(folder.path(),
                                  "sh -c 'trap \"\" TERM; echo $$ > stubborn; while :; do sleep 0.1; done' & "
                                  "(setsid sh -c 'echo $$ > away; exec sleep 300' &) ; sleep 300",
                                  1.5));
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->end, AgentEnd::kOutOfTime);
  EXPECT_TRUE(fs::exists(folder.path() / "away"));
  EXPECT_FALSE(IsAlive(folder.path() / "away"));
  EXPECT_FALSE(IsAlive(folder.path() / "stubborn"));
}

TEST(AgentProcess, IsEndedWhenTheRunMayNotGoOn) {
  const TempFolder folder = *TempFolder::Make("hone-agent-");
  AgentJob job = ShellJob(folder.path(), "sleep 300", 600);
  job.may_go_on = [] { return false; };
  EXPECT_EQ(AgentProcess().Run(job)->end, AgentEnd::kStopped);
}

TEST(AgentProcess, EndsWhatAKilledSittingLeftBehind) {
  const TempFolder folder = *TempFolder::Make("hone-agent-");
  ChildSpec spec;
  spec.argv = {"/bin/sh", "-c", "echo $$ > left; exec sleep 300"};
  spec.env = CurrentEnvironment();
  SetVariable(spec.env, "HONE_AGENT_FOLDER", folder.path().string());
  spec.folder = folder.path();
  const std::unique_ptr<Child> left = std::move(*Child::Spawn(spec));
  while (!IsAlive(folder.path() / "left")) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ(AgentProcess().Run(ShellJob(folder.path(), "true", 60))->exit.code, 0);
  EXPECT_FALSE(IsAlive(folder.path() / "left"));
}

}  // namespace
}  // namespace hone

#include "pipeline/verdict_reuse.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "base/ids.h"
#include "base/json.h"
#include "base/text.h"
#include "pipeline/best_file.h"

namespace hone {
namespace {

struct Question {
  TaskFile task{"/nowhere/gru.py", "gru", "class Model: pass\n", Sha256("task")};
  CandidateFile candidate{"/nowhere/a.py", "a", "class ModelNew: pass\n", Sha256("candidate")};
  SessionOptions options;
  JudgingMachine machine{"build 1", "NVIDIA H200, 580.95"};

  std::string Key() const { return ConditionsOf(task, candidate, options, machine); }
};

TEST(ConditionsOf, EveryDifferenceCounts) {
  const std::function<void(Question&)> kChanges[] = {
      [](Question&) {},
      [](Question& q) { q.task.sha256 = Sha256("other task"); },
      [](Question& q) { q.candidate.sha256 = Sha256("other candidate"); },
      [](Question& q) { q.machine.hone = "build 2"; },
      [](Question& q) { q.machine.device = "NVIDIA H200, 590.10"; },
      [](Question& q) { q.options.python.program = "/venv/bin/python3"; },
      [](Question& q) { q.options.python.version = "3.12.1"; },
      [](Question& q) { q.options.python.torch_version = "2.12.0"; },
      [](Question& q) { q.options.python.triton_version = "3.7.0"; },
      [](Question& q) { q.options.target = "triton"; },
      [](Question& q) { q.options.precision = "tf32"; },
      [](Question& q) { q.options.trials = 6; },
      [](Question& q) { q.options.check_only = true; },
      [](Question& q) { q.options.sandbox = SandboxLevel::kLandlock; },
      [](Question& q) { q.options.timeout_s = 1; },
      [](Question& q) { q.options.build_timeout_s = 1; },
      [](Question& q) { q.options.compile_rung = "never"; },
      [](Question& q) { q.options.ladder = {"eager"}; },
      [](Question& q) { q.options.lint = false; },
      [](Question& q) {
        q.options.device = "cuda";
        q.options.profile_all = true;
      },
  };
  std::set<std::string> keys;
  for (const auto& change : kChanges) {
    Question question;
    change(question);
    EXPECT_EQ(question.Key().size(), 64u);
    keys.insert(question.Key());
  }
  EXPECT_EQ(keys.size(), std::size(kChanges));
  // The locations and names of the files do not matter.
  Question moved;
  moved.candidate.path = "/elsewhere/b.py";
  moved.task.path = "/elsewhere/gru.py";
  EXPECT_EQ(moved.Key(), Question().Key());
}

TEST(ConditionsOf, ARunAndBenchAskTheSameOnACpu) {
  Question run;  // with a language model
  run.options.lint_predicts = true;
  run.options.profile_all = true;
  EXPECT_EQ(run.Key(), Question().Key());
}

TEST(ConditionsOf, NothingIsReusedWhereTheHashCouldLie) {
  Question question;
  question.machine.device = "";
  EXPECT_EQ(question.Key(), "");
  Result<TempFolder> folder = TempFolder::Make("reuse_test");
  ASSERT_TRUE(folder.ok());
  ASSERT_TRUE(WriteFileAtomic(folder->path() / "layers.py", "class Layer: pass\n").ok());
  Question beside;
  beside.task.path = folder->path() / "gru.py";
  EXPECT_EQ(beside.Key(), Question().Key());
  beside.task.source = "import layers\nclass Model: pass\n";
  EXPECT_EQ(beside.Key(), "");
}

// A run stores a verdict on the candidate; `hone bench` asks about the candidate's file or about best.py.
class FindKnownTest : public testing::Test {
 protected:
  FindKnownTest()
      : folder_(*TempFolder::Make("hone-reuse-")),
        store_(std::move(*RunStore::Open(folder_.path() / "hone.db"))) {
    run_.name = "20260131-235959_gru_expert";
    run_.task = asked_.task.name;
    run_.task_path = "gru.py";
    run_.task_sha256 = asked_.task.sha256;
    run_.id = *store_->AddRun(run_);
  }

  CandidateRecord Keep(const std::string& source, const SessionOptions& options) {
    CandidateRecord one;
    one.run_id = run_.id;
    one.key = "cpu.fused_graph";
    one.created = "2026-01-31T23:59:59Z";
    one.source = source;
    one.sha256 = Sha256(source);
    one.verdict = "accepted";
    one.vs_best = 1.0 / 3;
    asked_.candidate.source = source;
    asked_.candidate.sha256 = one.sha256;
    const std::string conditions = ConditionsOf(asked_.task, asked_.candidate, options, asked_.machine);
    one.json = DumpJson(Json{{"verdict", "accepted"}, {"provenance", {{"conditions", conditions}}}});
    EXPECT_TRUE(store_->SaveCandidate(one).ok());
    return one;
  }

  std::string Found(const std::string& source) {
    asked_.candidate.source = source;
    asked_.candidate.sha256 = Sha256(source);
    const auto known = FindKnown(*store_, asked_.task, asked_.candidate, asked_.options, asked_.machine);
    EXPECT_TRUE(known.ok());
    return known.ok() && *known ? (*known)->where : "nothing";
  }

  TempFolder folder_;
  std::unique_ptr<RunStore> store_;
  RunRecord run_;
  Question asked_;
};

TEST_F(FindKnownTest, BenchTakesTheVerdictOfARun) {
  SessionOptions of_run = asked_.options;
  of_run.lint_predicts = true;
  const CandidateRecord one = Keep("class ModelNew: pass\n", of_run);
  EXPECT_EQ(Found(one.source), "R1 cpu.fused_graph");
  EXPECT_EQ(Found(one.source + "# other bytes\n"), "nothing");
  asked_.options.trials = 7;
  EXPECT_EQ(Found(one.source), "nothing");
}

TEST_F(FindKnownTest, AVerdictWithMoreCountedIsAnAnswerAndOneWithLessIsNot) {
  asked_.options.device = "cuda";
  SessionOptions with_model = asked_.options;
  with_model.profile_all = true;
  const CandidateRecord one = Keep("class ModelNew: pass\n", with_model);
  EXPECT_EQ(Found(one.source), "R1 cpu.fused_graph");
  Keep(one.source, asked_.options);
  asked_.options.profile_all = true;
  EXPECT_EQ(Found(one.source), "nothing");
}

TEST_F(FindKnownTest, ABestFileHasTheVerdictOfItsCandidateUntilSomebodyChangesIt) {
  for (const char* source : {"class ModelNew: pass\n", "import hone_ext\nclass ModelNew: pass\n"}) {
    const CandidateRecord one = Keep(source, asked_.options);
    const std::string best = BestFile(run_, one);
    EXPECT_EQ(Found(best), "R1 cpu.fused_graph");
    EXPECT_EQ(Found(best + "\n"), "nothing");
    EXPECT_EQ(Found("#\n" + best), "nothing");
    EXPECT_EQ(Found(best.substr(0, best.find("class")) + "class ModelNew: fast = True\n"), "nothing");
    EXPECT_EQ(Found(ReplaceAll(best, run_.name, "another_run")), "nothing");
  }
}

TEST(IdentifyMachine, NamesThisBuildAndThisCpu) {
  const JudgingMachine machine = IdentifyMachine(SessionOptions());
  EXPECT_EQ(machine.hone.size(), 64u);
  EXPECT_EQ(IdentifyMachine(SessionOptions()).device, machine.device);
}

}  // namespace
}  // namespace hone

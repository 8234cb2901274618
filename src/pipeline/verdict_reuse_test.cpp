#include "pipeline/verdict_reuse.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "base/ids.h"

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
      [](Question& q) { q.options.profile_all = true; },
  };
  std::set<std::string> keys;
  for (const auto& change : kChanges) {
    Question question;
    change(question);
    EXPECT_EQ(question.Key().size(), 64u);
    keys.insert(question.Key());
  }
  EXPECT_EQ(keys.size(), std::size(kChanges));
  // Where the files lie and what they are called does not count.
  Question moved;
  moved.candidate.path = "/elsewhere/b.py";
  moved.task.path = "/elsewhere/gru.py";
  EXPECT_EQ(moved.Key(), Question().Key());
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

TEST(IdentifyMachine, NamesThisBuildAndThisCpu) {
  const JudgingMachine machine = IdentifyMachine(SessionOptions());
  EXPECT_EQ(machine.hone.size(), 64u);
  EXPECT_EQ(IdentifyMachine(SessionOptions()).device, machine.device);
}

}  // namespace
}  // namespace hone

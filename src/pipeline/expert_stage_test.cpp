// Tests what a run reports about recipes that were not tried.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "codegen/recipe.h"
#include "pipeline/spine.h"

namespace hone {
namespace {

// A machine without a GPU, on which every candidate is slower.
class SlowerJudge : public CandidateJudge {
 public:
  void EndAt(Deadline) override {}
  Result<TaskContext> Context(const Progress&) override {
    TaskContext context;
    context.card = {
        {"modules", {{"Linear", 1}}}, {"operators", {{"addmm", 1}}}, {"flops", 1e6}, {"floor_us", 1.0}};
    context.facts = Json::object();
    context.machine = {{"device", "cpu"}, {"cores", 2}, {"threads", 1}, {"has_compile", true}, {"gxx", true}};
    context.best_us = 100;
    return context;
  }
  Result<Judged> Judge(const CandidateFile& candidate, const Progress&) override {
    judged_.push_back(candidate.name);
    Judged judged;
    judged.verdict.verdict = "rejected";
    judged.verdict.reason = "slower";
    judged.record = ToJson(judged.verdict);
    return judged;
  }
  Result<QuickLook> Look(const CandidateFile&, const Progress&) override { return QuickLook{true, "", 100}; }
  Result<KernelProfile> Profile(const CandidateFile&) override { return KernelProfile{"no profiler", {}}; }

  std::vector<std::string> judged_;
};

TEST(ExpertStage, RecipesForAnotherDeviceAreOneLine) {
  const TempFolder folder = *TempFolder::Make("hone-expert-");
  const std::unique_ptr<RunStore> store = std::move(*RunStore::Open(folder.path() / "hone.db"));
  const TaskFile task{folder.path() / "t.py", "t", "import torch\nclass Model(torch.nn.Module):\n    pass\n",
                      "x"};
  RunRecord run;
  run.name = "run";
  run.created = "now";
  run.status = "running";
  run.task = task.name;
  run.task_source = task.source;
  run.target = "cpu";
  run.proposer = "expert";
  run.folder = (folder.path() / "run").string();
  run.options = "{}";
  run.id = *store->AddRun(run);
  std::vector<std::string> said;
  RunWatcher watcher;
  watcher.said = [&](const std::string& line) { said.push_back(line); };
  watcher.doing = [](const std::string&, const std::string&) {};
  watcher.judged = [](const CandidateRecord&) {};
  watcher.tokens = [](const std::string&, int64_t) {};
  Recorder recorder(*store, run, watcher);
  SlowerJudge judge;
  ASSERT_TRUE(Spine(recorder, judge, nullptr, task, RunOptions()).Run().ok());

  int for_a_gpu = 0;
  for (const Recipe& recipe : AllRecipes()) for_a_gpu += recipe.device == RecipeDevice::kGpu ? 1 : 0;
  ASSERT_GT(for_a_gpu, 5);
  const std::string line = std::to_string(for_a_gpu) + " recipes are only for a GPU";
  EXPECT_THAT(said, testing::Contains(line).Times(1));
  int about_gpus = 0;
  for (const std::string& one : said) about_gpus += Contains(one, "GPU") ? 1 : 0;
  EXPECT_EQ(about_gpus, 1) << Join(said, "\n");
  // torch.compile is one of the judge's own baselines, so a copy of it is not judged together with others.
  EXPECT_THAT(judge.judged_, testing::Not(testing::IsEmpty()));
  EXPECT_THAT(judge.judged_, testing::Not(testing::Contains("library.compile")));
  EXPECT_THAT(
      said, testing::Contains(testing::HasSubstr("library.compile: not judged: it is one of the baselines")));
  // No decision explains a loss by a missing device: reports quote decisions that begin with "declined:".
  const std::vector<DecisionRecord> decisions = *store->Decisions(run.id);
  for (const DecisionRecord& one : decisions) {
    if (StartsWith(one.key, "declined:")) {
      EXPECT_FALSE(Contains(one.text, "GPU")) << one.text;
    }
  }
}

}  // namespace
}  // namespace hone

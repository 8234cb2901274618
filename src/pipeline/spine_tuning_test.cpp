// Tests staged tuning in a run: which candidates are tuned, which numbers are searched, which stage stays.
#include "pipeline/spine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/replay.h"
#include "pipeline/spine_fixture.h"

namespace hone {
namespace {

using namespace spine_fixture;

TEST_F(SpineTest, TuningSearchesTheNumbersItselfAndKeepsWhatIsBetter) {
  Reply("seed", CandidateText("accepted 2", kTunable));
  Reply("stage_grid", CandidateText("accepted 3", kTunable));
  Reply("stage_block", CandidateText("accepted 1.5", kTunable));
  Reply("stage_memory", CandidateText("wrong-output", kTunable));
  for (int i = 0; i < 3; ++i) Reply("stage_repair", CandidateText("crashed", kTunable));
  const RunEnd end = Run();
  ASSERT_TRUE(end.best);
  EXPECT_EQ(end.best->vs_best, 3);
  EXPECT_THAT(Decisions(), testing::HasSubstr("stage grid: tune.grid is the best so far"));
  EXPECT_THAT(Decisions(), testing::HasSubstr("stage block: dropped"));
  EXPECT_THAT(Decisions(), testing::HasSubstr("stage memory: dropped"));
  // The value that cannot be built is never judged; the fastest ones are.
  const std::optional<CandidateRecord> tuned = *store_->Candidate(run_.id, "tune.grid.tuned1");
  ASSERT_TRUE(tuned);
  EXPECT_EQ(tuned->title, "BLOCK=64");
  EXPECT_GE(judge_.looks, 4);
}

// With the numbers that look fastest, it lacks an import.
std::string MendableWhenTuned() {
  const std::string text =
      CandidateText("accepted 3", std::string(kTunable) + "# fate at 64: crashed\n# mended: accepted 4\n");
  return ReplaceAll(text, "return x\n", "return x * math.pi\n");
}

TEST_F(SpineTest, WhatTuningMakesIsMendedBeforeAModelIsAsked) {
  Reply("seed", CandidateText("accepted 2", kTunable));
  Reply("stage_grid", MendableWhenTuned());
  Reply("stage_block", CandidateText("accepted 1.5"));
  Reply("stage_memory", CandidateText("accepted 1.5", "# another\n"));
  EXPECT_EQ(Run().best->key, "tune.grid.tuned1.mended");
  EXPECT_EQ((*store_->Candidate(run_.id, "tune.grid.tuned1"))->reason, "crashed");
  EXPECT_THAT(Decisions(), testing::HasSubstr("stage grid: tune.grid.tuned1.mended is the best so far"));
  EXPECT_EQ((*store_->Candidate(run_.id, "tune.block"))->parent_key, "tune.grid.tuned1.mended");
  EXPECT_EQ(store_->Calls(run_.id)->size(), 4u);
  const size_t judged = judge_.judged.size();
  Run();
  EXPECT_EQ(judge_.judged.size(), judged);
}

TEST_F(SpineTest, AResumedRunDoesNotMendWhatAnEarlierVersionTunedAndLeft) {
  judge_.mends = false;
  Reply("seed", CandidateText("accepted 2", kTunable));
  Reply("stage_grid", MendableWhenTuned());
  Reply("stage_block", CandidateText("accepted 1.5"));
  Reply("stage_memory", CandidateText("accepted 1.5", "# another\n"));
  EXPECT_EQ(Run().best->vs_best, 3);
  const std::vector<std::string> keys = Keys();
  EXPECT_THAT(keys, testing::Contains("tune.grid.tuned1:crashed"));
  judge_.mends = true;
  EXPECT_EQ(Run().best->vs_best, 3);
  EXPECT_EQ(Keys(), keys);
}

TEST_F(SpineTest, APersistentKernelIsNotTuned) {
  Reply("seed",
        CandidateText("accepted 2",
                      "import triton\nimport triton.language as tl\n@triton.jit\n"
                      "def k(x, h, steps, n: tl.constexpr):\n    i = tl.arange(0, n)\n"
                      "    s = tl.load(h + i)\n    for t in range(steps):\n"
                      "        s = s * 0.5 + tl.load(x + t * n + i)\n        tl.store(x + t * n + i, s)\n"
                      "def go(x, h):\n    k[(1,)](x, h, 8, 16)\n"));
  Run();
  EXPECT_THAT(Decisions(), testing::HasSubstr("no tuning of seed0: a persistent kernel"));
}

TEST_F(SpineTest, AComplexAlgorithmIsNotTuned) {
  Reply("seed", CandidateText("slower 0.5"));
  Reply("analysis", Analysis(true, "high"));
  Reply("algorithm", CandidateText("accepted 2", kTunable));
  Run();
  EXPECT_THAT(Decisions(), testing::HasSubstr("complexity is high"));
}

TEST_F(SpineTest, AKernelNearTheRooflineIsNotTuned) {
  Reply("seed", CandidateText("accepted 90", kTunable));
  Run();
  EXPECT_THAT(Decisions(), testing::HasSubstr("runs at 90% of the roofline already"));
}

TEST_F(SpineTest, AKernelThatKeepsTheDeviceBusyIsNotTuned) {
  judge_.device = "cuda";
  judge_.sm_percent = 86;
  Reply("seed", CandidateText("accepted 2", kTunable));
  Run();
  EXPECT_THAT(Decisions(), testing::HasSubstr("no tuning of seed0: its main kernel keeps the SMs 86% busy"));
  Run();
  EXPECT_EQ(judge_.profiles, 1) << "a resumed run asks again";
}

TEST_F(SpineTest, TheProfilerSpeaksInPromptsAndItsAbsenceStopsNothing) {
  judge_.device = "cuda";
  judge_.sm_percent = 31;
  Reply("seed", CandidateText("accepted 2", kTunable));
  Reply("stage_grid", CandidateText("accepted 3", kTunable));
  Run();
  EXPECT_THAT((*store_->Call(run_.id, "tune.grid"))->prompt, testing::HasSubstr("SM throughput %: 31"));
  EXPECT_THAT(Decisions(), testing::HasSubstr("SMs 31% busy"));
}

TEST_F(SpineTest, WithoutAProfilerTuningGoesOn) {
  judge_.device = "cuda";
  Reply("seed", CandidateText("accepted 2", kTunable));
  Reply("stage_grid", CandidateText("accepted 3", kTunable));
  EXPECT_EQ(Run().best->vs_best, 3);
  EXPECT_THAT(Decisions(), testing::HasSubstr("no profile: ncu is not installed"));
}

TEST_F(SpineTest, AStageThatWasJudgedBeforeTheRunDiedIsNotComparedWithItself) {
  Reply("seed", CandidateText("accepted 2", kTunable));
  Reply("stage_grid", CandidateText("accepted 3", kTunable));
  judge_.fail_after = 2;
  {
    std::unique_ptr<Model> model = std::move(*OpenReplay(folder_.path() / "replies"));
    Recorder recorder(*store_, *store_->FindRun("run"), {});
    EXPECT_FALSE(Spine(recorder, judge_, model.get(), task_, options_).Run().ok());
  }
  judge_.fail_after = -1;
  EXPECT_EQ(Run().best->vs_best, 3);
  EXPECT_THAT(Decisions(), testing::HasSubstr("tuning seed0 ("));
  EXPECT_THAT(Decisions(), testing::HasSubstr("stage grid: tune.grid is the best so far"));
}

}  // namespace
}  // namespace hone

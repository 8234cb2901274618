// Tests mechanical repair in a run: when it comes before a model, what it starts from, and that a resumed run
// keeps to what was decided.
#include "pipeline/mending.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/spine.h"
#include "pipeline/spine_fixture.h"

namespace hone {
namespace {

using testing::ElementsAre;
using namespace spine_fixture;

// A candidate that lacks an import: `fate` as it is, `mended` after the import is added.
std::string Mendable(const std::string& fate, const std::string& mended) {
  return "```python\nimport torch\n# fate: " + fate + "\n# mended: " + mended +
         "\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x * math.pi\n```\n";
}

TEST_F(SpineTest, WhatHasOneRightAnswerIsMendedBeforeAModelIsAsked) {
  Reply("seed", Mendable("crashed", "accepted 1.5"));
  const RunEnd end = Run();
  ASSERT_TRUE(end.best);
  EXPECT_EQ(end.best->key, "seed0.mended");
  EXPECT_EQ(end.best->parent_key, "seed0");
  EXPECT_EQ(end.best->phase, "mended");
  EXPECT_THAT(Keys(), ElementsAre("seed0:crashed", "seed0.mended:faster"));
  EXPECT_THAT(Decisions(), testing::HasSubstr("seed0: 1 mechanical fix: name-not-defined at line 6"));
  const std::vector<CallRecord> calls = *store_->Calls(run_.id);
  EXPECT_EQ(calls.size(), 1u);
  const size_t judged = judge_.judged.size();
  Run();
  EXPECT_EQ(judge_.judged.size(), judged);
}

// An earlier run whose best candidate fails here, because it lacks an import.
void SaveRunToInheritFrom(RunStore& store, RunRecord earlier) {
  earlier.name = "earlier";
  earlier.id = *store.AddRun(earlier);
  CandidateRecord one;
  one.run_id = earlier.id;
  one.key = "seed1";
  one.phase = "seed";
  one.source = ReplaceAll(ReplaceAll(Mendable("crashed", "accepted 3"), "```python\n", ""), "```\n", "");
  one.verdict = "accepted";
  one.reason = "faster";
  one.vs_best = 4;
  ASSERT_TRUE(store.SaveCandidate(one).ok());
}

TEST_F(SpineTest, WhatIsInheritedIsMendedBeforeAModelIsAsked) {
  SaveRunToInheritFrom(*store_, run_);
  options_.seed_from = {"earlier"};
  options_.tuning = false;
  Reply("seed", CandidateText("accepted 2.0"));
  EXPECT_EQ(Run().best->key, "from.earlier.seed1.mended");
  EXPECT_THAT(Keys(),
              ElementsAre("from.earlier.seed1:crashed", "from.earlier.seed1.mended:faster", "seed0:faster"));
  EXPECT_EQ((*store_->Candidate(run_.id, "from.earlier.seed1.mended"))->parent_key, "from.earlier.seed1");
  const size_t judged = judge_.judged.size();
  Run();
  EXPECT_EQ(judge_.judged.size(), judged);
}

TEST_F(SpineTest, AResumedRunDoesNotMendWhatAnEarlierVersionInheritedAndLeft) {
  SaveRunToInheritFrom(*store_, run_);
  options_.seed_from = {"earlier"};
  options_.tuning = false;
  judge_.mends = false;
  Reply("seed", CandidateText("accepted 2.0"));
  EXPECT_EQ(Run().best->key, "seed0");
  const std::vector<std::string> keys = Keys();
  judge_.mends = true;
  EXPECT_EQ(Run().best->key, "seed0");
  EXPECT_EQ(Keys(), keys);
}

TEST_F(SpineTest, WhatAStepOfTheSearchMakesIsMendedBeforeAModelIsAsked) {
  options_.search = "population";
  options_.patience = 1;
  Reply("seed", CandidateText("accepted 2.0"));
  Reply("improve", Mendable("crashed", "accepted 3"));
  EXPECT_EQ(Run().best->key, "gen1.improve.mended");
  EXPECT_THAT(Keys(), ElementsAre("seed0:faster", "gen1.improve:crashed", "gen1.improve.mended:faster"));
  EXPECT_EQ((*store_->Candidate(run_.id, "gen1.improve.mended"))->parent_key, "gen1.improve");
}

TEST_F(SpineTest, AMendedCandidateThatFailsFurtherOnIsWhatTheModelRepairs) {
  Reply("seed", Mendable("build-failed", "wrong-output"));
  Reply("seed_repair", CandidateText("accepted 1.5"));
  EXPECT_EQ(Run().best->key, "seed0.repair1");
  EXPECT_EQ((*store_->Candidate(run_.id, "seed0.repair1"))->parent_key, "seed0.mended");
  EXPECT_THAT((*store_->Call(run_.id, "seed0.repair1"))->prompt, testing::HasSubstr("import math"));
}

TEST_F(SpineTest, AMendedCandidateThatFailsEarlierIsNot) {
  Reply("seed", Mendable("wrong-output", "build-failed"));
  Reply("seed_repair", CandidateText("accepted 1.5"));
  EXPECT_EQ(Run().best->key, "seed0.repair1");
  EXPECT_EQ((*store_->Candidate(run_.id, "seed0.repair1"))->parent_key, "seed0");
}

TEST_F(SpineTest, ACandidateIsMendedForTheMachineThatTheRunBeganOn) {
  judge_.facts = {{"triton", "3.6.0"}, {"device_name", "NVIDIA H200"}};
  judge_.mends = false;
  Reply("seed", Mendable("crashed", "accepted 1.5"));
  options_.repairs = 0;
  options_.analysis = false;
  EXPECT_FALSE(Run().best);
  ASSERT_EQ(judge_.mended_on.size(), 1u);
  EXPECT_EQ(judge_.mended_on[0], judge_.facts);
  const Json then = judge_.facts;
  judge_.facts = {{"triton", "3.1.0"}};
  judge_.mends = true;
  EXPECT_EQ(Run().best->key, "seed0.mended") << "nothing was asked of a model yet, so the new fix is used";
  EXPECT_EQ(judge_.mended_on.back(), then) << "as the record has it";
}

TEST_F(SpineTest, AResumedRunDoesNotMendWhatAnEarlierVersionHadRepaired) {
  judge_.mends = false;
  Reply("seed", Mendable("crashed", "accepted 9"));
  Reply("seed_repair", CandidateText("wrong-output"));
  Reply("seed_repair", CandidateText("accepted 1.5"));
  EXPECT_EQ(Run().best->key, "seed0.repair2");
  const std::vector<std::string> keys = Keys();
  judge_.mends = true;
  EXPECT_EQ(Run().best->key, "seed0.repair2");
  EXPECT_EQ(Keys(), keys);
  EXPECT_EQ(store_->Calls(run_.id)->size(), 3u);
}

TEST(MendCandidate, KnowsTheReleaseOfTritonThatTheMachineHas) {
  // Some releases accept an annotated global, so it is a certain error only for a known release.
  CandidateRecord failed;
  failed.source =
      "import torch\nimport triton\nimport triton.language as tl\n\nEPS: tl.constexpr = "
      "1e-5\n\n\n@triton.jit\n"
      "def k(x, n, B: tl.constexpr):\n    i = tl.arange(0, B)\n    tl.store(x + i, EPS, mask=i < n)\n\n\n"
      "class ModelNew(torch.nn.Module):\n    def forward(self, x):\n        y = torch.empty_like(x)\n"
      "        k[(1,)](y, x.numel(), B=64)\n        return y\n";
  EXPECT_FALSE(MendCandidate(failed, "", Json::object()).changed());
  EXPECT_THAT(MendCandidate(failed, "", {{"triton", "3.6.0"}, {"device_name", "NVIDIA H200"}}).text,
              testing::HasSubstr("EPS: tl.constexpr = tl.constexpr(1e-5)"));
  EXPECT_FALSE(MendCandidate(failed, "", {{"triton", "3.1.0"}}).changed());
  EXPECT_FALSE(MendCandidate(failed, "", {{"triton", "of today"}}).changed()) << "nothing is known then";
}

TEST_F(SpineTest, WithMendingOffARunIsWhatItWas) {
  options_.mend = false;
  Reply("seed", Mendable("crashed", "accepted 9"));
  Reply("seed_repair", CandidateText("accepted 1.5"));
  EXPECT_EQ(Run().best->key, "seed0.repair1");
  EXPECT_THAT(Keys(), ElementsAre("seed0:crashed", "seed0.repair1:faster"));
  EXPECT_FALSE(RunOptionsFromJson(Json::object()).mend) << "runs of older versions";
  EXPECT_TRUE(RunOptionsFromJson(ToJson(RunOptions())).mend);
}

}  // namespace
}  // namespace hone

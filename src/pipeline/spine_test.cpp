// Tests the rules of a run, one in each case, with made-up replies and a judge that reads its verdict from
// the candidate: what is asked, what is written, who wins, what resume does. Rules of tuning, budgets,
// mechanical repair and the population search are in spine_tuning_test.cpp and its like.
// tests/golden/replay_golden_test.cpp holds which keys a run goes through, with the verdicts of the real
// judge, and that a killed run ends as if undisturbed.
#include "pipeline/spine.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "model/replay.h"
#include "pipeline/model_roles.h"
#include "pipeline/spine_fixture.h"

namespace hone {
namespace {

using testing::ElementsAre;
using namespace spine_fixture;

TEST_F(SpineTest, AFineSeedWins) {
  Reply("seed", CandidateText("accepted 2.5"));
  const RunEnd end = Run();
  EXPECT_EQ(end.status, "done");
  ASSERT_TRUE(end.best);
  EXPECT_EQ(end.best->key, "seed0");
  EXPECT_THAT(Keys(), ElementsAre("seed0:faster"));
  const std::string best = *ReadFile(folder_.path() / "run" / "best.py");
  EXPECT_THAT(best, testing::HasSubstr("class ModelNew"));
  EXPECT_THAT(best, testing::HasSubstr("2.50x as fast as the best PyTorch baseline"));
  const Json summary = *ParseJson(*ReadFile(folder_.path() / "run" / "run.json"));
  EXPECT_EQ(GetString(GetMember(summary, "speedup"), "best_baseline"), "tf32");
  EXPECT_TRUE(fs::exists(folder_.path() / "run" / "usage.csv"));
  EXPECT_TRUE(fs::exists(folder_.path() / "run" / "llm" / "seed0.prompt.txt"));
}

TEST_F(SpineTest, EverythingIsSaidBeforeTheRunIsOver) {
  Reply("seed", CandidateText("accepted 2.5"));
  std::unique_ptr<Model> model = std::move(*OpenReplay(folder_.path() / "replies"));
  std::unique_ptr<RunStore> reader = std::move(*RunStore::OpenReadOnly(folder_.path() / "hone.db"));
  std::vector<std::string> lines, statuses;
  RunWatcher watcher;
  watcher.said = [&](const std::string& line) {
    lines.push_back(line);
    statuses.push_back(reader->FindRun("run")->status);
  };
  Recorder recorder(*store_, *store_->FindRun("run"), watcher);
  const Result<RunEnd> end = Spine(recorder, judge_, model.get(), task_, options_).Run();
  ASSERT_TRUE(end.ok());
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.back(), end->outcome);
  EXPECT_THAT(statuses, testing::Each("running"));
  const RunRecord over = *reader->FindRun("run");
  EXPECT_EQ(over.status, "done");
  EXPECT_EQ(over.outcome, end->outcome);
  EXPECT_EQ(over.result, "accepted");
}

TEST_F(SpineTest, WhatBrokeIsReturnedAndLoggedAndNotSaidASecondTime) {
  Reply("seed", CandidateText("accepted 2.5"));
  judge_.fail_after = 0;
  std::unique_ptr<Model> model = std::move(*OpenReplay(folder_.path() / "replies"));
  std::string said;
  RunWatcher watcher;
  watcher.said = [&](const std::string& line) { said += line + "\n"; };
  Recorder recorder(*store_, *store_->FindRun("run"), watcher);
  const Result<RunEnd> end = Spine(recorder, judge_, model.get(), task_, options_).Run();
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().message, "the machine is on fire.");
  EXPECT_THAT(said, testing::Not(testing::HasSubstr("on fire")));
  EXPECT_THAT(*ReadFile(folder_.path() / "run" / "console.log"),
              testing::HasSubstr("the machine is on fire\n"));
  const RunRecord run = *store_->FindRun("run");
  EXPECT_EQ(run.result, "failed");
  EXPECT_EQ(run.outcome, "the machine is on fire") << "no period, and nothing about what goes without saying";
}

TEST_F(SpineTest, AWinnerThatIsWrongTheSecondTimeLosesItsPlace) {
  options_.seeds = 3;
  Reply("seed", CandidateText("accepted 3.0\n# later: wrong-output"));
  Reply("seed", CandidateText("accepted 2.5\n# later: no_difference 1.0"));
  Reply("seed", CandidateText("accepted 2.0\n# later: accepted 1.9"));
  const RunEnd end = Run();
  ASSERT_TRUE(end.best);
  EXPECT_EQ(end.best->key, "seed2");
  EXPECT_EQ(end.best->vs_best, 2.0);
  EXPECT_THAT(judge_.confirmed, ElementsAre("seed0", "seed1", "seed2"));
  EXPECT_THAT(judge_.chosen, testing::Each(true)) << "each was the best of several";
  EXPECT_THAT(Keys(), ElementsAre("seed0:wrong-output", "seed1:no_difference", "seed2:faster"));
  EXPECT_THAT(Decisions(),
              testing::HasSubstr("seed2 was accepted at 2.00x and judged again with other seeds"));
  // There is no third judgement.
  const RunEnd again = Run();
  EXPECT_EQ(again.best->key, "seed2");
  EXPECT_EQ(judge_.confirmed.size(), 3u);
}

TEST_F(SpineTest, AWinnerWhosePlaceWasLostWhenTheRunWasKilledLosesItOnResume) {
  options_.seeds = 2;
  Reply("seed", CandidateText("accepted 3.0\n# later: wrong-output"));
  Reply("seed", CandidateText("accepted 2.0\n# later: accepted 1.9"));
  ASSERT_EQ(Run().best->key, "seed1");
  const CandidateRecord lost = **store_->Candidate(run_.id, "seed0");
  // The state when the decision is in the store but the candidate's new row is not.
  CandidateRecord winner = lost;
  winner.verdict = "accepted";
  winner.reason = "faster";
  winner.vs_best = 3;
  winner.detail = "said the fake judge";
  winner.json = "{}";
  ASSERT_TRUE(store_->SaveCandidate(winner).ok());
  EXPECT_EQ(Run().best->key, "seed1");
  EXPECT_EQ(judge_.confirmed.size(), 2u) << "nothing is judged a third time";
  const CandidateRecord again = **store_->Candidate(run_.id, "seed0");
  EXPECT_EQ(again.reason, "wrong-output");
  EXPECT_EQ(again.detail, lost.detail);
  EXPECT_EQ(again.json, lost.json);
  EXPECT_EQ(again.vs_best, lost.vs_best);
}

TEST_F(SpineTest, AWinnerWithoutRivalsWasNotChosen) {
  options_.seeds = 1;
  options_.tuning = false;
  Reply("seed", CandidateText("accepted 3.0\n# later: accepted 2.9"));
  EXPECT_EQ(Run().best->key, "seed0");
  EXPECT_THAT(judge_.chosen, ElementsAre(false));
  EXPECT_THAT(Decisions(), testing::HasSubstr("time: "));
}

TEST_F(SpineTest, CandidatesOfAnEarlierRunAreSeeds) {
  RunRecord earlier = run_;
  earlier.name = "earlier";
  earlier.id = *store_->AddRun(earlier);
  for (const auto& [key, reason, speed] : std::vector<std::tuple<std::string, std::string, double>>{
           {"seed0", "faster", 1.5}, {"seed1", "faster", 4.0}, {"seed2", "wrong-output", 9.0}}) {
    CandidateRecord one;
    one.run_id = earlier.id;
    one.key = key;
    one.phase = "seed";
    one.source = fmt::format("import torch\n# fate: accepted {}\nclass ModelNew:\n    pass\n", speed);
    one.verdict = reason == "faster" ? "accepted" : "rejected";
    one.reason = reason;
    one.vs_best = speed;
    one.kernel_class = "gemm";
    ASSERT_TRUE(store_->SaveCandidate(one).ok());
  }
  options_.seed_from = {"earlier"};
  options_.tuning = false;
  Reply("seed", CandidateText("accepted 2.0"));
  EXPECT_EQ(Run().best->key, "from.earlier.seed1");
  EXPECT_THAT(Keys(), ElementsAre("from.earlier.seed1:faster", "seed0:faster")) << "the best of its class";
  EXPECT_THAT((*store_->Candidate(run_.id, "from.earlier.seed1"))->title,
              testing::HasSubstr("seed1 of earlier: 4.00x there"));
  EXPECT_THAT(Decisions(), testing::HasSubstr("seeds from earlier: seed1"));
  // Inherited candidates stay when the earlier run is deleted.
  ASSERT_TRUE(store_->DeleteRun(earlier.id).ok());
  EXPECT_EQ(Run().best->key, "from.earlier.seed1");
}

class NamedModel : public Model {
 public:
  explicit NamedModel(std::string name) : name_(std::move(name)) {}
  ModelReply Ask(const ModelRequest&, const ModelProgress&) override { return {}; }
  std::string name() const override { return name_; }

 private:
  std::string name_;
};

TEST(ModelRoles, RepairsGoToTheOtherModelAndTheRecordSaysSo) {
  const std::unique_ptr<Model> both =
      WithRepairModel(std::make_unique<NamedModel>("strong"), std::make_unique<NamedModel>("cheap"));
  EXPECT_EQ(both->name(), "strong");
  for (const std::string& type : CallTypes()) {
    ModelRequest request;
    request.call_type = type;
    const bool mends = type == "mend" || EndsWith(type, "repair");
    EXPECT_EQ(both->Ask(request, {}).model, mends ? "cheap" : "strong") << type;
  }
}

TEST_F(SpineTest, ABrokenSeedIsRepairedWithItsHistory) {
  Reply("seed", CandidateText("wrong-output"));
  Reply("seed_repair", CandidateText("build-failed"));
  Reply("seed_repair", CandidateText("accepted 1.5"));
  EXPECT_EQ(Run().best->key, "seed0.repair2");
  EXPECT_THAT(Keys(),
              ElementsAre("seed0:wrong-output", "seed0.repair1:build-failed", "seed0.repair2:faster"));
  const std::string prompt = (*store_->Call(run_.id, "seed0.repair2"))->prompt;
  EXPECT_THAT(prompt, testing::HasSubstr("wrong-output"));
  EXPECT_THAT(prompt, testing::HasSubstr("build-failed"));
}

TEST_F(SpineTest, RepairsRunOutAndAnAnalysisThatSaysNoLeavesNothingRight) {
  Reply("seed", CandidateText("wrong-output"));
  for (int i = 0; i < 3; ++i) Reply("seed_repair", CandidateText("crashed", fmt::format("# {}\n", i)));
  Reply("analysis", Analysis(false));
  const RunEnd end = Run();
  EXPECT_FALSE(end.best);
  EXPECT_EQ(end.result, "none_right");
  EXPECT_EQ(end.outcome, "no candidate was right: 3 crashed, 1 wrong-output");
  EXPECT_EQ(store_->FindRun("run")->vs_best, 1);
  EXPECT_EQ(judge_.judged.size(), 4u);
  EXPECT_THAT(Decisions(), testing::HasSubstr("not worth optimising"));
  EXPECT_THAT(*ReadFile(folder_.path() / "run" / "best.py"), testing::HasSubstr("ModelNew = Model"));
}

TEST_F(SpineTest, AnUnreadableAnalysisGoesBackOnce) {
  Reply("seed", CandidateText("slower 0.5"));
  Reply("analysis", "I think it is slow.");
  Reply("analysis", Analysis(true, "high"));
  Reply("algorithm", CandidateText("accepted 2"));
  EXPECT_EQ(Run().best->key, "seed0.algorithm");
  EXPECT_THAT(Decisions(), testing::HasSubstr("goes back once"));
}

TEST_F(SpineTest, AReplyWithoutCodeIsAskedAgainOnceAndThenCounts) {
  options_.repairs = 0;
  options_.analysis = false;
  Reply("seed", "Sorry.");
  Reply("seed", "Still sorry.");
  EXPECT_FALSE(Run().best);
  EXPECT_THAT(Keys(), ElementsAre("seed0:no-code"));
  EXPECT_TRUE(judge_.judged.empty());
  EXPECT_THAT((*store_->Call(run_.id, "seed0.again"))->prompt, testing::HasSubstr("held no Python file"));
}

TEST_F(SpineTest, AFileThatIsTheSameAsBeforeIsAskedAgainOnce) {
  options_.analysis = false;
  options_.repairs = 2;
  Reply("seed", CandidateText("wrong-output"));
  Reply("seed_repair", CandidateText("wrong-output"));
  Reply("seed_repair", CandidateText("crashed"));
  Reply("seed_repair", CandidateText("wrong-output"));  // the fate of seed0
  Reply("seed_repair", CandidateText("wrong-output"));
  Run();
  EXPECT_THAT(Keys(),
              ElementsAre("seed0:wrong-output", "seed0.repair1:crashed", "seed0.repair2:wrong-output"));
  for (const char* key : {"seed0.repair1.again", "seed0.repair2.again"})
    EXPECT_THAT((*store_->Call(run_.id, key))->prompt,
                testing::HasSubstr("the same file as before, which was rejected (wrong-output)"));
}

TEST_F(SpineTest, AnotherLanguageAndSeveralFilesAreAskedAgainWithTheReason) {
  options_.analysis = false;
  options_.repairs = 0;
  options_.seeds = 2;
  Reply("seed", "```cuda\n__global__ void f() {}\n```");
  Reply("seed", CandidateText("accepted 2"));
  Reply("seed",
        "kernels.py:\n```python\nimport triton\n```\n" +
            ReplaceAll(CandidateText("crashed"), "```python\n", "```python\nfrom kernels import go\n"));
  Reply("seed", CandidateText("accepted 3"));
  EXPECT_EQ(Run().best->key, "seed1");
  EXPECT_THAT(Keys(), ElementsAre("seed0:faster", "seed1:faster"));
  EXPECT_THAT((*store_->Call(run_.id, "seed0.again"))->prompt, testing::HasSubstr("was not a Python file"));
  EXPECT_THAT((*store_->Call(run_.id, "seed1.again"))->prompt, testing::HasSubstr("imports kernels.py"));
}

TEST_F(SpineTest, ACandidateThatIsNotThePlannedOneHearsThatFirst) {
  judge_.modules = {{"GRU", 1}};
  Reply("seed", CandidateText("slower 0.5"));
  Reply("analysis", Analysis(true, "high", "persistent_recurrent"));
  // A kernel launched in a host loop, although a persistent one was requested.
  Reply("algorithm",
        CandidateText("slower 0.7",
                      "import triton\nimport triton.language as tl\n@triton.jit\n"
                      "def k(x, n: tl.constexpr):\n    i = tl.arange(0, n)\n"
                      "    tl.store(x + i, tl.load(x + i) * 2)\n"
                      "def loop(x, steps):\n    for t in range(steps):\n        k[(1,)](x, 16)\n"));
  Reply("algorithm_repair", CandidateText("accepted 4"));
  EXPECT_EQ(Run().best->key, "seed0.algorithm.repair1");
  EXPECT_THAT((*store_->Call(run_.id, "seed0.algorithm.repair1"))->prompt,
              testing::HasSubstr("asks for a persistent kernel"));
}

TEST_F(SpineTest, AResumedRunAsksAndJudgesNothingAgain) {
  Reply("seed", CandidateText("wrong-output"));
  Reply("seed_repair", CandidateText("accepted 1.5", kTunable));
  Reply("stage_grid", CandidateText("accepted 2", kTunable));
  Reply("stage_block", CandidateText("accepted 1.2", kTunable));
  Reply("stage_memory", CandidateText("accepted 1.1", kTunable));
  Run();
  const std::vector<std::string> keys = Keys();
  const std::string decisions = Decisions();
  const size_t judged = judge_.judged.size();
  const int looks = judge_.looks;
  const RunEnd again = Run();
  EXPECT_EQ(again.best->vs_best, 2);
  EXPECT_EQ(judge_.judged.size(), judged);
  EXPECT_EQ(judge_.looks, looks);
  EXPECT_EQ(judge_.contexts, 1);
  EXPECT_EQ(Keys(), keys);
  EXPECT_EQ(Decisions(), decisions);
}

TEST_F(SpineTest, AnErrorOfTheMachineIsNoVerdictAndTheRunGoesOnLater) {
  Reply("seed", CandidateText("wrong-output"));
  Reply("seed_repair", CandidateText("accepted 1.5"));
  judge_.fail_after = 1;
  {
    std::unique_ptr<Model> model = std::move(*OpenReplay(folder_.path() / "replies"));
    Recorder recorder(*store_, *store_->FindRun("run"), {});
    const Result<RunEnd> end = Spine(recorder, judge_, model.get(), task_, options_).Run();
    ASSERT_FALSE(end.ok());
    EXPECT_EQ(store_->FindRun("run")->status, "failed");
    EXPECT_EQ(store_->FindRun("run")->vs_best, 0) << "a failed run kept nothing";
  }
  judge_.fail_after = -1;
  EXPECT_EQ(Run().best->key, "seed0.repair1");
  EXPECT_THAT(judge_.judged, ElementsAre("seed0", "seed0.repair1", "seed0.repair1"));
}

TEST_F(SpineTest, WhereNoCandidateCameTheRunHasFailedAndSaysWhy) {
  Reply("analysis", Analysis(false));
  const RunEnd end = Run();
  EXPECT_EQ(end.status, "failed");
  EXPECT_THAT(end.outcome, testing::StartsWith("no candidate came: the recording "));
  EXPECT_EQ(store_->FindRun("run")->status, "failed");
}

TEST_F(SpineTest, AnExhaustedReplayEndsItsBranchOnly) {
  options_.seeds = 2;
  Reply("seed", CandidateText("accepted 1.5"));
  const RunEnd end = Run();
  EXPECT_EQ(end.status, "done");
  EXPECT_EQ(end.best->key, "seed0");
}

TEST(Rules, OnlyARecurrenceIsToldToPutItsTimeLoopIntoTheKernel) {
  const Json recurrent = {{"modules", {{"GRU", 1}}}, {"operators", {{"gru", 1}}}, {"serial_chain", 512}};
  const Json product = {{"modules", {{"Linear", 1}}}, {"operators", {{"addmm", 1}}}, {"serial_chain", 1}};
  struct Row {
    const char* type;
    const char* method;
    const Json& card;
    bool asks;
  };
  for (const Row& row : std::vector<Row>{
           {"persistent_recurrent", "one launch", recurrent, true},
           {"", "a persistent kernel", recurrent, true},
           // named to exclude it
           {"", "a step kernel, not a persistent one", recurrent, false},
           {"", "non-persistent: one launch per time step", recurrent, false},
           {"", "a CUDA graph instead of a persistent kernel", recurrent, false},
           {"other", "Persistent kernel with the loop inside", recurrent, true},
           {"gemm", "a persistent GEMM for the input product", recurrent, false},
           {"persistent_gemm", "persistent tiles", recurrent, false},
           // another kind of kernel, named only in prose
           {"", "a persistent GEMM for the input product", recurrent, false},
           {"other", "persistent matmul over all inputs, then cuDNN", recurrent, false},
           {"", "compute the input products in one persistent kernel", recurrent, false},
           {"persistent", "persistent tiles of an element-wise and reduction kernel", recurrent, false},
           // and with the time loop
           {"", "a persistent kernel: the time loop inside it, one product a step", recurrent, true},
           {"gemm", "Persistent kernel; the time-loop moves into it around the GEMM", recurrent, true},
           {"", "a persistent recurrence whose matmul stays in registers", recurrent, true},
           {"reduction", "tiles", recurrent, false},
           {"persistent_recurrent", "one launch", product, false},
           {"gemm", "a persistent GEMM", product, false},
           {"", "persistent tiles over the L2", product, false},
       }) {
    AnalysisRecord asked;
    asked.kernel_type = row.type;
    asked.optimisation_method = row.method;
    CandidateRecord made;
    made.kernel_class = "gemm";
    EXPECT_EQ(!NotWhatWasAsked(asked, made, row.card).empty(), row.asks)
        << row.type << ", " << row.method << ", " << DumpJson(row.card);
    made.kernel_class = "persistent_recurrent";
    EXPECT_EQ(NotWhatWasAsked(asked, made, row.card), "");
  }
}

TEST(Rules, TheBestOfPyTorchIsWhatTheVerdictsSaw) {
  EXPECT_EQ(BestOfPyTorch({}, ""), "eager");
  EXPECT_EQ(BestOfPyTorch({}, "cudagraph"), "cudagraph");
  CandidateRecord early, late, broken;
  early.json = R"({"speedup":{"best_baseline":"cudagraph","best_us":30}})";
  late.json = R"({"speedup":{"best_baseline":"compile","best_us":20}})";
  broken.json = R"({"speedup":{"best_baseline":"","best_us":0}})";
  EXPECT_EQ(BestOfPyTorch({early, late, broken}, "cudagraph"), "compile");
}

}  // namespace
}  // namespace hone

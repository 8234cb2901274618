// Tests every branch of the spine, with recorded replies and a judge that reads its verdict from the
// candidate: the requests, the stored results, the winner. tests/golden/replay_golden_test.cpp covers the
// same branches with recorded verdicts of the real judge.
#include "pipeline/spine.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>
#include <tuple>

#include "base/text.h"
#include "model/replay.h"
#include "pipeline/mending.h"
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

TEST_F(SpineTest, TheExpertsCandidatesComeBeforeTheModels) {
  options_.proposer = "expert+replay:x";
  options_.search = "population";
  options_.patience = 2;
  Reply("seed", CandidateText("accepted 2.0"));
  Reply("improve", CandidateText("accepted 3.0"));
  Run();
  std::vector<std::string> phases;
  const std::vector<CandidateRecord> all = *store_->Candidates(run_.id);
  for (const CandidateRecord& one : all) phases.push_back(one.phase);
  ASSERT_GE(phases.size(), 4u);
  EXPECT_EQ(phases[1], "expert");
  EXPECT_LT(std::find(phases.begin(), phases.end(), "expert"),
            std::find(phases.begin(), phases.end(), "seed"));
  EXPECT_EQ(all.back().key, "gen1.improve");
  EXPECT_EQ(all.back().parent_key, "seed0");
  const std::string prompt = (*store_->Call(run_.id, "gen1.improve"))->prompt;
  EXPECT_THAT(prompt, testing::HasSubstr("2.00x of the best PyTorch baseline"));
  EXPECT_THAT(prompt, testing::HasSubstr("floor"));
}

TEST_F(SpineTest, AModelImprovesAFileOfTheExpertAndSeesItsSpeedAndItsFloor) {
  options_.proposer = "expert+replay:x";
  options_.search = "population";
  options_.seeds = 0;
  options_.patience = 1;
  judge_.of_others = "accepted 1.6";
  Reply("improve", CandidateText("accepted 3.0"));
  EXPECT_EQ(Run().best->key, "gen1.improve");
  const CandidateRecord made = *(*store_->Candidate(run_.id, "gen1.improve"));
  const CandidateRecord parent = *(*store_->Candidate(run_.id, made.parent_key));
  EXPECT_EQ(parent.phase, "expert");
  const std::string prompt = (*store_->Call(run_.id, "gen1.improve"))->prompt;
  EXPECT_THAT(prompt, testing::HasSubstr(std::string(Trim(parent.source))));
  EXPECT_THAT(prompt, testing::HasSubstr("1.60x of the best PyTorch baseline"));
  EXPECT_THAT(prompt, testing::HasSubstr("62.5 us per call, 62.5 times the floor"));
}

TEST_F(SpineTest, AnInconclusiveCandidateIsNoGainAndAParentWhosePromptSaysSo) {
  options_.search = "population";
  options_.patience = 2;
  options_.tuning = false;
  Reply("seed", CandidateText("accepted 1.2"));
  Reply("improve", CandidateText("inconclusive 5"));
  Reply("combine", CandidateText("inconclusive 4"));
  EXPECT_EQ(Run().best->key, "seed0");
  const DecisionRecord end = *(*store_->Decision(run_.id, "gen1.end"));
  EXPECT_THAT(end.text, testing::HasSubstr("5.00x, but the machine was too busy to be sure"));
  EXPECT_EQ(GetNumber(*ParseJson(end.json), "gain"), 0);
  EXPECT_THAT(Decisions(), testing::HasSubstr("2 steps in a row brought no gain of 1%"));
  const std::string prompt = (*store_->Call(run_.id, "gen2.combine"))->prompt;
  EXPECT_THAT(prompt, testing::HasSubstr("5.00x of the best PyTorch baseline on a machine too busy"));
}

TEST_F(SpineTest, ARestartSeesWhatWasTriedInVain) {
  options_.search = "population";
  options_.patience = 1;
  options_.seeds = 3;
  options_.repairs = 1;
  options_.analysis = false;
  const auto reply = [&](const char* type, const char* what, const char* fate) {
    Reply(type, std::string(what) + "\n" + CandidateText(fate, std::string("# ") + what + "\n"));
  };
  reply("seed", "Rows first.", "wrong-output");
  reply("seed_repair", "Rows first, masked.", "crashed");
  reply("seed", "Columns first.", "build-failed");
  reply("seed_repair", "Columns first, again.", "no_difference 1.0");
  reply("seed", "One block.", "timeout");
  reply("seed_repair", "One smaller block.", "timeout");
  reply("restart", "Waves.", "accepted 2");
  const Json choice = {{"operator", "restart"}, {"parents", Json::array()}};
  ASSERT_TRUE(store_->SaveDecision(run_.id, {"gen1", "now", "search", "chosen", DumpJson(choice)}).ok());
  EXPECT_EQ(Run().best->key, "gen1.restart");
  const std::string prompt = (*store_->Call(run_.id, "gen1.restart"))->prompt;
  const size_t at = prompt.find("none of it works");
  ASSERT_NE(at, std::string::npos) << prompt;
  EXPECT_THAT(prompt.substr(0, at), testing::HasSubstr("1.00x of the best PyTorch baseline"));
  EXPECT_THAT(prompt.substr(at), testing::HasSubstr("crashed after 1 repair: Rows first."));
  EXPECT_THAT(prompt.substr(at), testing::HasSubstr("timeout after 1 repair: One block."));
  EXPECT_THAT(prompt.substr(at), testing::Not(testing::HasSubstr("Columns")));
}

TEST_F(SpineTest, WhatAProfileShowsIsTheKindOfACandidateFromTheNextStepOn) {
  options_.search = "population";
  options_.patience = 4;
  judge_.device = "cuda";
  judge_.sm_percent = 70;
  Reply("seed", CandidateText("accepted 2.0"));
  for (int i = 0; i < 4; ++i) Reply("improve", CandidateText("accepted 1.9", fmt::format("# {}\n", i)));
  for (const char* type : {"restart", "combine"})
    for (int i = 0; i < 2; ++i) Reply(type, CandidateText("accepted 1.8", fmt::format("# {} {}\n", type, i)));
  Run();
  const auto told = [&](const std::string& key) {
    const std::optional<CallRecord> call = *store_->Call(run_.id, key);
    return call && testing::Value(call->prompt, testing::HasSubstr("bound by arithmetic"));
  };
  EXPECT_FALSE(told("gen1.improve")) << "it was profiled for this step";
  int later = 0;
  const std::vector<CallRecord> calls = *store_->Calls(run_.id);
  for (const CallRecord& one : calls) later += StepOf(one.key) > 1 && told(one.key) ? 1 : 0;
  EXPECT_GT(later, 0) << "the seed is one of the others by then";
  const Result<Json> profile = ParseJson((*store_->Decision(run_.id, "profile:seed0"))->json);
  EXPECT_EQ(GetInt(*profile, "step"), 1);
}

TEST_F(SpineTest, ABudgetOfCallsIsNeverExceeded) {
  options_.budget.calls = 3;
  options_.seeds = 5;
  for (int i = 0; i < 5; ++i) Reply("seed", CandidateText("accepted 2.0"));
  const RunEnd end = Run();
  EXPECT_EQ(end.status, "stopped");
  EXPECT_THAT(end.outcome, testing::HasSubstr("the budget of 3 calls is spent"));
  EXPECT_EQ(store_->Usage(run_.id)->calls, 3);
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

TEST_F(SpineTest, ASlowSeedIsAnalysedAndTheAlgorithmCandidateWins) {
  Reply("seed", CandidateText("slower 0.5"));
  Reply("analysis", Analysis(true, "high"));
  Reply("algorithm", CandidateText("accepted 3"));
  EXPECT_EQ(Run().best->key, "seed0.algorithm");
  EXPECT_EQ((*store_->Candidate(run_.id, "seed0.algorithm"))->parent_key, "seed0");
}

TEST_F(SpineTest, AFailedAlgorithmCandidateLeavesTheOtherSeed) {
  options_.seeds = 2;
  Reply("seed", CandidateText("slower 0.9"));
  Reply("seed", CandidateText("accepted 1.2"));
  Reply("analysis", Analysis(true));
  Reply("algorithm", CandidateText("wrong-output"));
  for (int i = 0; i < 3; ++i)
    Reply("algorithm_repair", CandidateText("wrong-output", fmt::format("# {}\n", i)));
  EXPECT_EQ(Run().best->key, "seed1");
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

const char kTunable[] =
    "import triton\nimport triton.language as tl\nHONE_TUNE = {\"BLOCK\": [16, 32, 64, 7]}\nBLOCK = 16\n"
    "@triton.jit\ndef k(x, y, n, B: tl.constexpr):\n    i = tl.program_id(0) * B + tl.arange(0, B)\n"
    "    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)\n"
    "def go(x, y):\n    k[(4,)](x, y, x.numel(), B=BLOCK)\n";

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

TEST_F(SpineTest, TheConsoleSaysWhereTheOpeningEndsAndWhatEndsTheSearch) {
  const auto lines = [&] {
    std::string all;
    const std::vector<std::pair<int64_t, std::string>> console = *store_->Console(run_.id, 0, 1000);
    for (const auto& [id, line] : console) all += line + "\n";
    return all;
  };
  options_.search = "population";
  options_.patience = 2;
  options_.budget.calls = 9;
  options_.budget.usd = 0.5;
  Reply("seed", CandidateText("accepted 2.0"));
  Reply("improve", CandidateText("accepted 3.0"));
  Run();
  const std::string line =
      "the opening is over; the search goes on and ends after 2 steps in a row without a gain of 1% "
      "(--patience) or when the budget (9 calls, $0.5) is spent; --search classic would end here, after "
      "tuning "
      "the best\n";
  const std::string said = lines();
  EXPECT_LT(said.find(line), said.find("gen1: "));
  Run();
  EXPECT_EQ(lines().find(line), lines().rfind(line)) << "a resumed run does not say it again";
  RunOptions options;
  options.tuning = false;
  options.patience = 8;
  EXPECT_EQ(HowSearchGoesOn(options),
            "the search goes on and ends after 8 steps in a row without a gain of 1% (--patience); --search "
            "classic would end here");
  options.follow = {{1, "restart", {}}};
  EXPECT_EQ(HowSearchGoesOn(options), "the search goes on as recorded, for 1 step");
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

TEST_F(SpineTest, ABudgetOfEvaluationsEndsTheRunWithItsBest) {
  options_.seeds = 3;
  options_.budget.evaluations = 2;
  Reply("seed", CandidateText("accepted 1.5"));
  Reply("seed", CandidateText("accepted 1.8", "# later: accepted 1.7\n"));
  Reply("seed", CandidateText("accepted 9"));
  const RunEnd end = Run();
  EXPECT_EQ(end.status, "stopped");
  EXPECT_EQ(end.best->key, "seed1");
  EXPECT_EQ(
      end.outcome,
      "the budget of 2 evaluations is spent; so far: seed1 is 1.80x as fast as the best PyTorch baseline "
      "(1.80x eager); it is not confirmed by a second judgement");
  EXPECT_TRUE(judge_.confirmed.empty());
}

TEST_F(SpineTest, ABudgetForTheModelEndsTheRunWithAConfirmedWinner) {
  options_.seeds = 3;
  options_.budget.calls = 2;
  Reply("seed", CandidateText("accepted 1.5", "# later: accepted 1.4\n"));
  Reply("seed", CandidateText("accepted 1.8", "# later: no_difference 1.0\n"));
  const RunEnd end = Run();
  EXPECT_EQ(end.status, "stopped");
  EXPECT_THAT(judge_.confirmed, ElementsAre("seed1", "seed0")) << "the fastest loses its place";
  EXPECT_EQ(end.best->key, "seed0");
  EXPECT_EQ(end.outcome,
            "the budget of 2 calls is spent; so far: seed0 is 1.50x as fast as the best PyTorch baseline "
            "(1.50x eager)");
  EXPECT_EQ(Run().best->key, "seed0");
  EXPECT_EQ(judge_.confirmed.size(), 2u) << "resume with the same budget judges nothing again";
}

TEST_F(SpineTest, OneEvaluationIsSingularAndConfirmingTheWinnerIsNotCounted) {
  options_.tuning = false;
  options_.budget.evaluations = 1;
  Reply("seed", CandidateText("accepted 1.5", "# later: accepted 1.4\n"));
  Reply("seed", CandidateText("accepted 1.8"));
  const RunEnd end = Run();
  EXPECT_EQ(end.status, "done");
  EXPECT_THAT(judge_.confirmed, ElementsAre("seed0"));
  EXPECT_THAT(end.outcome, testing::Not(testing::HasSubstr("not confirmed")));
  options_.seeds = 2;
  EXPECT_THAT(Run().outcome, testing::StartsWith("the budget of 1 evaluation is spent; so far: seed0 is "));
}

// Answers every seed at once, as a server does, so that seeds run in parallel.
class PromptModel : public Model {
 public:
  ModelReply Ask(const ModelRequest&, const ModelProgress&) override {
    ModelReply reply;
    reply.text = CandidateText("accepted 1.5");
    reply.usage = {60, 40, false, 0.25, true};
    ++asked;
    if (pause_ms > 0) std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    return reply;
  }
  std::string name() const override { return "prompt"; }
  bool order_matters() const override { return false; }

  std::atomic<int> asked{0};
  int pause_ms = 0;
};

TEST_F(SpineTest, SeedsSideBySideNeverMakeAnEvaluationTooMany) {
  options_.seeds = 16;
  options_.tuning = false;
  options_.budget.evaluations = 5;
  judge_.pause_ms = 20;
  PromptModel model;
  for (const size_t sitting : {1u, 2u}) {
    Recorder recorder(*store_, *store_->FindRun("run"), {});
    const Result<RunEnd> end = Spine(recorder, judge_, &model, task_, options_).Run();
    ASSERT_TRUE(end.ok());
    EXPECT_EQ(end->status, "stopped");
    EXPECT_EQ(judge_.judged.size(), 5u) << "sitting " << sitting;
  }
  options_.budget.evaluations = 7;
  Recorder recorder(*store_, *store_->FindRun("run"), {});
  ASSERT_TRUE(Spine(recorder, judge_, &model, task_, options_).Run().ok());
  EXPECT_EQ(judge_.judged.size(), 7u) << "a budget holds for all sittings together";
}

TEST_F(SpineTest, SeedsSideBySideMakeAllCallsOfTheBudget) {
  options_.seeds = 24;
  options_.tuning = false;
  options_.budget.calls = 20;
  PromptModel model;
  for (const int sitting : {1, 2}) {
    Recorder recorder(*store_, *store_->FindRun("run"), {});
    const Result<RunEnd> end = Spine(recorder, judge_, &model, task_, options_).Run();
    ASSERT_TRUE(end.ok());
    EXPECT_THAT(end->outcome, testing::HasSubstr("20 calls is spent"));
    EXPECT_EQ(store_->Usage(run_.id)->calls, 20) << "sitting " << sitting;
    EXPECT_EQ(model.asked, 20) << "sitting " << sitting;
  }
}

TEST_F(SpineTest, AVerdictFromTheStoreCostsNoEvaluationAndTheWinnerIsJudgedAfresh) {
  options_.seeds = 2;
  options_.tuning = false;
  options_.budget.evaluations = 2;
  Reply("seed", CandidateText("crashed", "# known: 2.5\n# later: accepted 2.4\n"));
  Reply("seed", CandidateText("accepted 1.5"));
  const RunEnd end = Run();
  EXPECT_EQ(end.status, "done");
  EXPECT_EQ(end.best->key, "seed0");
  EXPECT_EQ(end.best->vs_best, 2.5);
  EXPECT_EQ(end.best->ci_low, 2.5 * 0.99);
  EXPECT_EQ(end.best->error_limit, 1e-6);
  EXPECT_THAT(judge_.confirmed, ElementsAre("seed0"));
  EXPECT_THAT(judge_.judged, ElementsAre("seed1", "seed0"));
  const Json record = *ParseJson((*store_->Candidate(run_.id, "seed0"))->json);
  EXPECT_EQ(GetString(GetMember(record, "from_store"), "id"), "R1 seed0");
  EXPECT_TRUE(GetBool(GetMember(record, "measurement"), "kept")) << "the measurement of that verdict stays";
  EXPECT_THAT(*ReadFile(folder_.path() / "run" / "console.log"),
              testing::HasSubstr("seed0: this verdict is taken from the store: R1 seed0 of then"));
  // A second session does not count it either, and judges nothing again.
  EXPECT_EQ(Run().status, "done");
  EXPECT_EQ(judge_.judged.size(), 2u);
}

TEST_F(SpineTest, SeedsSideBySideOverspendByOneCallAtMost) {
  options_.seeds = 12;
  options_.tuning = false;
  PromptModel model;
  model.pause_ms = 5;
  options_.budget.tokens = 350;  // a call takes 100
  for (const int sitting : {1, 2}) {
    Recorder recorder(*store_, *store_->FindRun("run"), {});
    const Result<RunEnd> end = Spine(recorder, judge_, &model, task_, options_).Run();
    ASSERT_TRUE(end.ok());
    EXPECT_THAT(end->outcome, testing::HasSubstr("350 tokens is spent"));
    EXPECT_EQ(model.asked, 4) << "sitting " << sitting;
  }
  options_.budget.tokens = 0;
  options_.budget.usd = 1.6;  // a call takes 0.25
  Recorder recorder(*store_, *store_->FindRun("run"), {});
  const Result<RunEnd> end = Spine(recorder, judge_, &model, task_, options_).Run();
  ASSERT_TRUE(end.ok());
  EXPECT_THAT(end->outcome, testing::HasSubstr("$1.6 is spent"));
  EXPECT_EQ(model.asked, 7);
}

TEST_F(SpineTest, AnEvaluationThatHoneCouldNotMakeIsGivenBack) {
  options_.seeds = 2;
  options_.budget.evaluations = 1;
  Reply("seed", CandidateText("accepted 1.5"));
  Reply("seed", CandidateText("accepted 1.8"));
  judge_.fail_after = 0;
  {
    std::unique_ptr<Model> model = std::move(*OpenReplay(folder_.path() / "replies"));
    Recorder recorder(*store_, *store_->FindRun("run"), {});
    EXPECT_FALSE(Spine(recorder, judge_, model.get(), task_, options_).Run().ok());
  }
  judge_.fail_after = -1;
  EXPECT_EQ(Run().best->key, "seed0");
}

TEST_F(SpineTest, ASpentBudgetOfTimeIsNamedAsAPersonWouldWriteIt) {
  judge_.hangs_in = "context";
  Reply("seed", CandidateText("accepted 2"));
  const std::vector<std::pair<double, std::string>> cases = {
      {1, "1 minute"}, {90, "90 minutes"}, {1.0 / 60, "1 s"}, {1.5, "90 s"}, {10.0 / 6, "1 min 40 s"}};
  for (const auto& [minutes, words] : cases) {
    ASSERT_TRUE(store_->DeleteRun(run_.id).ok());
    options_.budget.minutes = minutes;
    run_.seconds = 60 * minutes - 0.1;
    run_.id = *store_->AddRun(run_);
    EXPECT_THAT(Run().outcome, testing::StartsWith("the budget of " + words + " is spent")) << minutes;
  }
}

// Uses the run's own clock: earlier sessions spent the two minutes except for several times the duration of a
// whole run here, so that a busy machine reaches each of the places too.
TEST_F(SpineTest, TheBudgetOfMinutesReachesIntoWhateverIsGoingOn) {
  options_.budget.minutes = 2;
  judge_.device = "cuda";
  Reply("seed", CandidateText("accepted 2", kTunable));
  Reply("stage_grid", CandidateText("accepted 3", kTunable + std::string("# later: accepted 3\n")));
  const Stopwatch whole;
  ASSERT_TRUE(Run().best.has_value());
  const double left = 0.2 + 10 * whole.seconds();
  ASSERT_LT(left, 60);
  for (const char* where : {"context", "judge", "profile", "look", "confirm"}) {
    ASSERT_TRUE(store_->DeleteRun(run_.id).ok());
    run_.seconds = 120 - left;
    run_.id = *store_->AddRun(run_);
    judge_.hangs_in = where;
    const Stopwatch watch;
    const RunEnd end = Run();
    EXPECT_LT(watch.seconds(), left + 30) << where;
    // The judge was told what is left of the budget, and nothing began after the step that took until then.
    EXPECT_LE(judge_.given_s, left) << where;
    EXPECT_GT(judge_.given_s, left - watch.seconds()) << where;
    EXPECT_EQ(judge_.hung, 1) << where;
    EXPECT_EQ(judge_.begun_after, 0) << where;
    EXPECT_EQ(end.status, "stopped") << where;
    EXPECT_THAT(end.outcome, testing::StartsWith("the budget of 2 minutes is spent; so far: ")) << where;
    EXPECT_EQ(end.best.has_value(), std::string(where) != "context" && std::string(where) != "judge");
  }
  EXPECT_THAT(store_->FindRun("run")->outcome, testing::HasSubstr("not confirmed"));
  // Interrupted steps are not on record, so the run continues there with more time.
  judge_.hangs_in.clear();
  options_.budget.minutes = 10;
  EXPECT_EQ(Run().best->vs_best, 3);
  EXPECT_EQ(judge_.confirmed.back(), "tune.grid");
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

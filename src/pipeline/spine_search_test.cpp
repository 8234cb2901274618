// Tests what a population search asks a model, and what its steps count as.
#include "pipeline/spine.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "pipeline/spine_fixture.h"

namespace hone {
namespace {

using namespace spine_fixture;

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

}  // namespace
}  // namespace hone

#include "report/search_story.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/text.h"
#include "pipeline/run_options.h"
#include "report/explanation.h"
#include "report/explanation_words.h"
#include "report/report_fixture.h"

namespace hone {
namespace {

using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A hand-made population search. Each call costs 110 tokens and one cent.
class SearchRun {
 public:
  SearchRun() {
    RunOptions options;
    options.proposer = "llm";
    options.search = "population";
    story_.run.id = 3;
    story_.run.name = "20260131-235959_39_GRU_llm";
    story_.run.task = "39_GRU";
    story_.run.proposer = "llm";
    story_.run.status = "done";
    story_.run.target = "cuda";
    story_.run.options = DumpJson(ToJson(options));
    story_.candidates.push_back(FixtureCandidate("zero", "", "zero", "baseline", "reference", 1));
  }

  // `speed` 0 means wrong.
  CandidateRecord& Made(const std::string& key, const std::string& phase, double speed,
                        const std::string& parent = "", const std::string& second = "") {
    const char* reason = speed > 1 ? "faster" : speed > 0 ? "slower" : "wrong-output";
    CandidateRecord one =
        FixtureCandidate(key, parent, phase, speed > 1 ? "accepted" : "rejected", reason, speed);
    one.vs_best = speed;
    one.other_parent_key = second;
    one.title.clear();
    story_.candidates.push_back(one);
    return story_.candidates.back();
  }
  void Call(const std::string& key, const std::string& type) {
    CallRecord call;
    call.key = key;
    call.call_type = type;
    call.status = "answered";
    call.prompt_tokens = 100;
    call.completion_tokens = 10;
    call.cost_usd = 0.01;
    call.price_known = true;
    story_.calls.push_back(call);
    ++story_.usage.calls;
    story_.usage.cost_usd += 0.01;
  }
  CandidateRecord& Asked(const std::string& key, const std::string& phase, double speed,
                         const std::string& parent = "", const std::string& second = "") {
    Call(key, phase);
    return Made(key, phase, speed, parent, second);
  }
  void Choose(int step, const std::string& op) {
    story_.decisions.push_back({"gen" + std::to_string(step), "", "search", op,
                                DumpJson(Json{{"operator", op}, {"parents", Json::array()}})});
  }
  void End(int step, const std::string& op) {
    story_.decisions.push_back({"gen" + std::to_string(step) + ".end", "", "search", op,
                                DumpJson(Json{{"operator", op}, {"gain", 0.0}, {"answered", true}})});
  }
  // A whole step: chosen, requested, judged, ended.
  CandidateRecord& Step(int step, const std::string& op, double speed, const std::string& parent = "",
                        const std::string& second = "") {
    Choose(step, op);
    const size_t made = story_.candidates.size();
    Asked("gen" + std::to_string(step) + "." + op, op, speed, parent, second);
    End(step, op);
    return story_.candidates[made];
  }
  RunStory& story() { return story_; }

  std::string Text() const {
    return ExplanationDocument(Explain(story_), ReportLanguage::kEnglish).Text(kOneLine);
  }

 private:
  RunStory story_;
};

std::vector<std::string> Keys(const std::vector<Ancestor>& ancestors) {
  std::vector<std::string> keys;
  for (const Ancestor& one : ancestors) keys.push_back(one.key);
  return keys;
}

// "improve 2/1/1 3.00 calls 2 $0.02": steps, correct, faster, gain, cost.
std::vector<std::string> Rows(const std::vector<OperatorUse>& uses) {
  std::vector<std::string> rows;
  for (const OperatorUse& one : uses)
    rows.push_back(fmt::format("{} {}/{}/{} {:.2f} calls {} ${:.2f}", one.op, one.steps, one.right, one.paid,
                               one.factor, one.calls, one.usd));
  return rows;
}

TEST(SearchStory, TellsStepsGainAndCostOfEachOperator) {
  SearchRun run;
  run.Asked("seed0", "seed", 1.5);
  run.Asked("seed1", "seed", 0);
  run.Call("seed1.analysis", "analysis");
  run.Step(1, "improve", 1.2, "seed0");
  run.Step(2, "improve", 3, "seed0");
  run.Call("gen2.improve.again", "improve");
  run.Step(3, "mend", 0, "seed1");
  run.Step(4, "combine", 6, "gen2.improve", "seed0");
  EXPECT_THAT(Rows(OperatorsOf(run.story())),
              ElementsAre("opening 2/1/0 1.35 calls 3 $0.03", "improve 2/2/1 2.00 calls 3 $0.03",
                          "combine 1/1/1 2.00 calls 1 $0.01", "mend 1/0/0 1.00 calls 1 $0.01"));
  const std::string text = run.Text();
  EXPECT_THAT(text, HasSubstr("How the search went"));
  EXPECT_THAT(text, ContainsRegex("opening +2 +1 +1.35x +3 +330 +0.0300"));
  EXPECT_THAT(text, ContainsRegex("improve +2 +2 +1 +2.00x +3 +330 +0.0300"));
  EXPECT_THAT(text, ContainsRegex("mend +1 +0 +0 +1.00x +1 +110 +0.0100"));
}

TEST(SearchStory, TheGainsOfAllRowsAreTheSpeedThatIsSureOfTheBest) {
  for (const double of_opening : {0.0, 0.4, 2.0}) {
    SearchRun run;
    run.Asked("seed0", "seed", of_opening);
    run.Step(1, "restart", 0.6);
    run.Step(2, "improve", 3, "gen1.restart");
    run.Step(3, "improve", 4, "gen2.improve");
    double product = 1;
    for (const OperatorUse& one : OperatorsOf(run.story())) product *= one.factor;
    EXPECT_NEAR(product, 0.9 * 4, 1e-9) << of_opening;
  }
}

TEST(SearchStory, ARunWithoutASearchHasNoSection) {
  SearchRun run;
  run.Asked("seed0", "seed", 2);
  EXPECT_THAT(OperatorsOf(run.story()), IsEmpty());
  EXPECT_THAT(run.Text(), Not(HasSubstr("How the search went")));
  EXPECT_THAT(Explain(run.story()).ancestors, IsEmpty());
}

TEST(SearchStory, ASearchThatGainedNothingSaysSoAndHasNoWay) {
  SearchRun run;
  run.Asked("seed0", "seed", 0);
  run.Step(1, "restart", 0);
  run.Step(2, "restart", 0);
  EXPECT_THAT(Rows(OperatorsOf(run.story())),
              ElementsAre("opening 1/0/0 1.00 calls 1 $0.01", "restart 2/0/0 1.00 calls 2 $0.02"));
  const Explanation told = Explain(run.story());
  EXPECT_THAT(told.ancestors, IsEmpty());
  const std::string text = run.Text();
  EXPECT_THAT(text, HasSubstr("How the search went"));
  EXPECT_THAT(text, ContainsRegex("restart +2 +0 +0 +1.00x"));
  EXPECT_THAT(text, Not(HasSubstr("The way to")));
}

TEST(SearchStory, WhatAnInterruptedStepCostIsCountedAndAStepThatNeverBeganIsNot) {
  SearchRun run;
  run.Asked("seed0", "seed", 1.5);
  run.Step(1, "improve", 2, "seed0");
  // Four steps were chosen at once. The reply of the first arrived, and the run ended before its verdict.
  for (const int step : {2, 3}) run.Choose(step, "improve");
  for (const int step : {4, 5}) run.Choose(step, "restart");
  CandidateRecord& open = run.Asked("gen2.improve", "improve", 0, "gen1.improve");
  open.verdict = open.reason = "";
  run.story().run.status = "stopped";
  const std::vector<OperatorUse> uses = OperatorsOf(run.story());
  EXPECT_THAT(Rows(uses),
              ElementsAre("opening 1/1/0 1.35 calls 1 $0.01", "improve 2/1/1 1.33 calls 2 $0.02"));
  int64_t calls = 0;
  for (const OperatorUse& one : uses) calls += one.calls;
  EXPECT_EQ(calls, static_cast<int64_t>(run.story().calls.size()));
}

TEST(SearchStory, ARunThatEndedInItsFirstStepHasItsCostAsWell) {
  SearchRun run;
  run.Asked("seed0", "seed", 1.5);
  run.Choose(1, "improve");
  EXPECT_THAT(OperatorsOf(run.story()), IsEmpty());
  run.Call("gen1.improve", "improve");
  EXPECT_THAT(Rows(OperatorsOf(run.story())),
              ElementsAre("opening 1/1/0 1.35 calls 1 $0.01", "improve 1/0/0 1.00 calls 1 $0.01"));
}

TEST(SearchStory, AWinnerThatWasWrongTheSecondTimeIsNoGain) {
  SearchRun run;
  run.Asked("seed0", "seed", 1.5);
  CandidateRecord& dropped = run.Step(1, "improve", 9, "seed0");
  dropped.verdict = "rejected";
  dropped.reason = "wrong-output";
  dropped.vs_best = 0;
  EXPECT_THAT(Rows(OperatorsOf(run.story())),
              ElementsAre("opening 1/1/0 1.35 calls 1 $0.01", "improve 1/0/0 1.00 calls 1 $0.01"));
}

TEST(SearchStory, TheWayToTheBestHasBothParentsAndWhatEachCost) {
  SearchRun run;
  run.Asked("seed0", "seed", 1.5).title = "tiles of 64";
  run.Asked("seed1", "seed", 0.5);
  run.Call("seed1.analysis", "analysis");
  run.Call("seed1.analysis.again", "analysis");
  run.Asked("seed1.algorithm", "algorithm", 2, "seed1");
  run.Asked("seed2", "seed", 1.1);
  run.Step(1, "improve", 1.3, "seed2");
  run.Step(2, "combine", 5, "seed0", "seed1.algorithm");
  const Explanation told = Explain(run.story());
  const std::vector<Ancestor>& way = told.ancestors;
  EXPECT_THAT(Keys(way), ElementsAre("seed0", "seed1", "seed1.algorithm", "gen2.combine"));
  EXPECT_THAT(way[3].parents, ElementsAre("seed0", "seed1.algorithm"));
  EXPECT_THAT(way[2].parents, ElementsAre("seed1"));
  EXPECT_EQ(way[2].calls, 3) << "its own and the two of the analysis";
  EXPECT_EQ(way[2].tokens, 330);
  EXPECT_NEAR(way[2].usd, 0.03, 1e-12);
  EXPECT_EQ(way[1].calls, 1);
  EXPECT_EQ(way[1].reason, "") << "slow is right";
  const std::string text = run.Text();
  EXPECT_THAT(text, HasSubstr("The way to gen2.combine:"));
  EXPECT_THAT(text, ContainsRegex("gen2.combine +combine +seed0, seed1.algorithm +5.00x +1 +110 +0.0100"));
  EXPECT_THAT(text, ContainsRegex("seed0 +seed +1.50x +1 +110 +0.0100 +tiles of 64"));
}

TEST(SearchStory, MendedAndTunedAncestorsStandBehindWhatTheyWereMadeFrom) {
  SearchRun run;
  run.Asked("seed0", "seed", 0);
  run.Made("seed0.mended", "mended", 1.5, "seed0");  // no call
  run.Step(1, "improve", 0, "seed0.mended");
  run.Step(2, "mend", 2, "gen1.improve");
  run.Choose(3, "tune");
  run.Asked("gen3.tune", "stage_grid", 2.5, "gen2.mend");
  run.Made("gen3.tune.tuned1", "tuned", 4, "gen3.tune").title = "BLOCK=128";
  run.End(3, "tune");
  run.Step(4, "improve", 3, "gen2.mend");
  const Explanation told = Explain(run.story());
  EXPECT_THAT(Keys(told.ancestors), ElementsAre("seed0", "seed0.mended", "gen1.improve", "gen2.mend",
                                                "gen3.tune", "gen3.tune.tuned1"));
  const std::vector<Ancestor>& way = told.ancestors;
  EXPECT_EQ(way[0].reason, "wrong-output");
  EXPECT_EQ(way[1].calls, 0) << "no model mended it";
  EXPECT_EQ(way[2].reason, "wrong-output");
  EXPECT_THAT(way[3].parents, ElementsAre("gen1.improve"));
  EXPECT_EQ(way[4].calls, 1);
  EXPECT_EQ(way[5].calls, 0) << "numbers are searched, never asked for";
  EXPECT_EQ(way[5].title, "BLOCK=128");
  EXPECT_THAT(Rows(told.operators),
              ElementsAre("opening 2/1/0 1.35 calls 1 $0.01", "improve 2/1/0 1.00 calls 2 $0.02",
                          "mend 1/1/1 1.33 calls 1 $0.01", "tune 1/1/1 2.00 calls 1 $0.01"));
  const std::string text = run.Text();
  EXPECT_THAT(text, ContainsRegex("seed0.mended +mechanical repair +seed0 +1.50x"));
  EXPECT_THAT(text, ContainsRegex("gen3.tune.tuned1 +search +gen3.tune +4.00x"));
  EXPECT_THAT(text, Not(HasSubstr("phase.")));
}

TEST(SearchStory, ParentsInACircleEnd) {
  SearchRun run;
  run.Asked("seed0", "seed", 1.5, "gen1.improve");
  run.Step(1, "improve", 2, "seed0", "gen1.improve");
  EXPECT_THAT(Keys(AncestorsOf(run.story(), "gen1.improve")), ElementsAre("seed0", "gen1.improve"));
  EXPECT_THAT(AncestorsOf(run.story(), ""), IsEmpty());
  EXPECT_THAT(AncestorsOf(run.story(), "unknown"), IsEmpty());
}

TEST(SearchStory, JsonHasWhatTheTextHas) {
  SearchRun run;
  run.Asked("seed0", "seed", 1.5);
  run.Step(1, "improve", 3, "seed0");
  const OrderedJson json = ToJson(Explain(run.story()), ReportLanguage::kEnglish);
  const OrderedJson& improve = json["search"]["operators"][1];
  EXPECT_EQ(improve["operator"], "improve");
  EXPECT_EQ(improve["steps"], 1);
  EXPECT_EQ(improve["factor"], 2.0);
  EXPECT_EQ(improve["tokens"], 110);
  const OrderedJson& best = json["search"]["ancestors"][1];
  EXPECT_EQ(best["candidate"], "gen1.improve");
  EXPECT_EQ(best["parents"], OrderedJson::array({"seed0"}));
  EXPECT_EQ(best["vs_best"], 3.0);
}

}  // namespace
}  // namespace hone

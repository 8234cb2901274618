#include "report/explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "model/analysis_record.h"
#include "pipeline/run_options.h"
#include "report/causes.h"
#include "report/counterfactual.h"
#include "report/explanation_words.h"
#include "report/report_fixture.h"

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

// A hand-made run: every candidate comes with the call that made it.
class Story {
 public:
  explicit Story(RunOptions options = {}) : options_(std::move(options)) {
    if (options_.proposer == "expert") options_.proposer = "llm";
    story_.run.id = 3;
    story_.run.name = "20260131-235959_39_GRU_llm";
    story_.run.task = "39_GRU";
    story_.run.task_path = "tasks/39_GRU.py";
    story_.run.proposer = options_.proposer;
    story_.run.status = "done";
    story_.run.target = "cuda";
    story_.run.folder = "/runs/r";
    story_.run.task_source = "class Model:\n    pass\n";
    story_.run.card =
        R"({"card": {"modules": {"GRU": 1}, "floor_us": 100, "serial_chain": 512}, "best_rung": "cudagraph"})";
    CandidateRecord zero;
    zero.key = zero.phase = "zero";
    zero.verdict = "baseline";
    zero.vs_best = zero.ci_low = zero.ci_high = 1;
    story_.candidates.push_back(zero);
  }

  CandidateRecord& Add(const std::string& key, const std::string& parent, const std::string& reason,
                       double vs_best = 0) {
    CandidateRecord one;
    one.key = key;
    one.parent_key = parent;
    one.phase = key.find("repair") != std::string::npos ? "seed_repair" : "seed";
    one.verdict = reason == "faster" ? "accepted" : reason == "no-difference" ? "no_difference" : "rejected";
    one.reason = reason;
    one.detail = reason + " happened";
    one.kernel_class = "none";
    one.vs_best = vs_best;
    one.ci_low = vs_best * 0.98;
    one.ci_high = vs_best * 1.02;
    one.candidate_us = vs_best > 0 ? 1000 / vs_best : 0;
    one.error = 1e-6;
    one.error_limit = 1e-5;
    one.seconds = 2;
    one.source = "# " + key + "\nclass ModelNew:\n    pass\n";
    story_.candidates.push_back(one);
    Call(key, one.phase);
    story_.calls.back().reply = "```python\n" + one.source + "```\n";
    return story_.candidates.back();
  }

  void Call(const std::string& key, const std::string& type, const std::string& status = "answered") {
    CallRecord call;
    call.key = key;
    call.call_type = type;
    call.status = status;
    call.prompt_tokens = 100;
    call.completion_tokens = 10;
    call.cost_usd = 0.01;
    call.price_known = true;
    call.seconds = 1;
    story_.calls.push_back(call);
    ++story_.usage.calls;
    story_.usage.prompt_tokens += 100;
    story_.usage.completion_tokens += 10;
    story_.usage.cost_usd += 0.01;
  }

  void Analysis(const std::string& of, bool worth, const std::string& method = "persistent kernel") {
    Call(of + ".analysis", "analysis");
    AnalysisRecord record;
    record.worth_optimizing = worth;
    record.reason = "r";
    record.bottleneck = "b";
    record.optimisation_method = method;
    record.modification_plan = "p";
    record.kernel_type = method;
    story_.decisions.push_back({of + ".analysis", "", "analysis", of, DumpJson(ToJson(record))});
    story_.calls.back().reply = DumpJson(ToJson(record));
  }

  RunStory Done() {
    story_.run.options = DumpJson(ToJson(options_));
    for (const CandidateRecord& one : story_.candidates)
      if (one.accepted() && one.vs_best > story_.run.vs_best) {
        story_.run.best_key = one.key;
        story_.run.vs_best = one.vs_best;
      }
    return story_;
  }
  RunStory& story() { return story_; }

 private:
  RunOptions options_;
  RunStory story_;
};

RunOptions Options(int seeds, int repairs) {
  RunOptions options;
  options.proposer = "llm";
  options.seeds = seeds;
  options.repairs = repairs;
  return options;
}

const Counterfactual& Part(const std::vector<Counterfactual>& all, const std::string& part) {
  for (const Counterfactual& one : all)
    if (one.part == part) return one;
  ADD_FAILURE() << "no " << part;
  return all.front();
}

TEST(Counterfactuals, WithoutRepairTheRepairedOneIsGone) {
  RunOptions options = Options(2, 3);
  options.analysis = false;
  Story story(options);
  story.Add("seed0", "", "wrong-output");
  story.Add("seed0.repair1", "seed0", "faster", 3);
  story.Add("seed1", "", "faster", 2);
  const auto all = Counterfactuals(story.Done());
  const Counterfactual& repair = Part(all, "repair");
  EXPECT_EQ(repair.effect, "other_best");
  EXPECT_TRUE(repair.exact);
  EXPECT_EQ(repair.best_key, "seed1");
  EXPECT_THAT(repair.lost, ElementsAre("seed0.repair1"));
  EXPECT_EQ(repair.tokens_saved, 110);
  EXPECT_EQ(Part(all, "analysis").effect, "was_off");
  EXPECT_EQ(Part(all, "seeds").effect, "same_best");
  EXPECT_EQ(Part(all, "seeds").best_key, "seed0.repair1");
  EXPECT_EQ(Part(all, "class_check").effect, "never_used");
}

TEST(Counterfactuals, WhereTheRunWouldHaveAskedSomethingElseOnlyABoundIsGiven) {
  Story story(Options(2, 3));
  story.Add("seed0", "", "wrong-output");
  story.Add("seed0.repair1", "seed0", "faster", 3);
  story.Add("seed1", "", "faster", 2);
  const Counterfactual repair = Part(Counterfactuals(story.Done()), "repair");
  EXPECT_EQ(repair.effect, "at_least");
  EXPECT_FALSE(repair.exact);
  EXPECT_EQ(repair.best_key, "seed1");
  EXPECT_THAT(repair.unknown, ElementsAre(Pair("seed0.analysis", "never_asked")));
}

TEST(Counterfactuals, WithoutTheAnalysisItsAlgorithmIsGone) {
  Story story(Options(1, 3));
  story.Add("seed0", "", "slower", 0.5);
  story.Analysis("seed0", true);
  CandidateRecord& broken = story.Add("seed0.algorithm", "seed0", "wrong-output");
  broken.kernel_class = "persistent_recurrent";
  CandidateRecord& best = story.Add("seed0.algorithm.repair1", "seed0.algorithm", "faster", 4);
  best.kernel_class = "persistent_recurrent";
  const auto all = Counterfactuals(story.Done());
  const Counterfactual& analysis = Part(all, "analysis");
  EXPECT_EQ(analysis.effect, "other_best");
  EXPECT_EQ(analysis.best_key, "");
  EXPECT_EQ(analysis.verdict, "baseline");
  EXPECT_EQ(analysis.calls_saved, 3);
  EXPECT_EQ(Part(all, "repair").effect, "other_best");
  EXPECT_EQ(Part(all, "repair").best_key, "");
  EXPECT_EQ(Part(all, "seeds").effect, "was_off");
  // Without the check, a persistent kernel would have been tuned, which this run never tried.
  const Counterfactual& check = Part(all, "class_check");
  EXPECT_EQ(check.effect, "at_least");
  EXPECT_EQ(check.best_key, "seed0.algorithm.repair1");
  EXPECT_THAT(check.unknown, ElementsAre(Pair("tune.grid", "never_asked")));
}

TEST(Counterfactuals, WithoutTheClassCheckARightButWrongKindOfCandidateIsLeftAlone) {
  RunOptions options = Options(1, 1);
  options.tuning = false;
  Story story(options);
  story.Add("seed0", "", "slower", 0.5);
  story.Analysis("seed0", true);
  story.Add("seed0.algorithm", "seed0", "slower", 0.7).kernel_class = "launch_per_step";
  story.Add("seed0.algorithm.repair1", "seed0.algorithm", "faster", 5).kernel_class = "persistent_recurrent";
  const Counterfactual check = Part(Counterfactuals(story.Done()), "class_check");
  EXPECT_EQ(check.effect, "other_best");
  EXPECT_EQ(check.best_key, "");
  EXPECT_THAT(check.lost, ElementsAre("seed0.algorithm.repair1"));
}

TEST(Counterfactuals, ARepairThatWasAskedForInOtherWordsIsNotGuessed) {
  RunOptions options = Options(1, 1);
  options.tuning = false;
  Story story(options);
  story.Add("seed0", "", "slower", 0.5);
  story.Analysis("seed0", true);
  story.Add("seed0.algorithm", "seed0", "wrong-output").kernel_class = "launch_per_step";
  story.Add("seed0.algorithm.repair1", "seed0.algorithm", "faster", 5).kernel_class = "persistent_recurrent";
  const Counterfactual check = Part(Counterfactuals(story.Done()), "class_check");
  EXPECT_EQ(check.effect, "at_least");
  EXPECT_THAT(check.unknown, ElementsAre(Pair("seed0.algorithm.repair1", "other_prompt")));
}

TEST(Counterfactuals, TuningOfAnotherCandidateIsNotGuessed) {
  Story story(Options(2, 1));
  story.Add("seed0", "", "faster", 2).kernel_class = "gemm";
  story.Add("seed1", "", "faster", 3).kernel_class = "gemm";
  story.Add("tune.grid", "seed1", "faster", 6).kernel_class = "gemm";
  story.Call("tune.block", "stage_block", "exhausted");
  story.Call("tune.memory", "stage_memory", "exhausted");
  const auto all = Counterfactuals(story.Done());
  const Counterfactual& seeds = Part(all, "seeds");
  EXPECT_EQ(seeds.effect, "at_least");
  EXPECT_EQ(seeds.best_key, "seed0");
  EXPECT_THAT(seeds.unknown, ElementsAre(Pair("tune.grid", "other_base")));
  EXPECT_EQ(Part(all, "repair").effect, "never_used");
}

TEST(Counterfactuals, WhatTheRunHasNotComeToIsNotBlamedOnThePart) {
  Story story(Options(2, 1));
  story.Add("seed0", "", "slower", 0.5);
  story.Analysis("seed0", false);
  story.story().run.status = "stopped";
  const auto all = Counterfactuals(story.Done());
  EXPECT_EQ(Part(all, "analysis").effect, "same_best");
  EXPECT_TRUE(Part(all, "analysis").exact);
}

TEST(Counterfactuals, ARecordThatDoesNotFollowFromItsOptionsIsNotRecomputed) {
  Story story(Options(1, 0));
  story.Add("seed0", "", "faster", 2);
  story.Add("seed5", "", "faster", 3);
  EXPECT_EQ(Part(Counterfactuals(story.Done()), "analysis").effect, "not_recomputable");
}

TEST(Counterfactuals, TheExpertHasNoSuchParts) {
  RunStory story;
  story.run.proposer = "expert";
  story.run.options = DumpJson(ToJson(RunOptions{}));
  for (const Counterfactual& one : Counterfactuals(story)) EXPECT_EQ(one.effect, "not_part");
}

TEST(Counterfactuals, ARunWithTheExpertBesideAModelSaysThatItsGraphIsMissing) {
  RunOptions options;
  options.proposer = "expert+llm";
  RunStory story;
  story.run.proposer = options.proposer;
  story.run.options = DumpJson(ToJson(options));
  const Counterfactual repair = Part(Counterfactuals(story), "repair");
  EXPECT_EQ(repair.effect, "not_recomputable");
  const std::string sentence = CounterfactualSentence(repair, Explain(story), ReportLanguage::kEnglish);
  EXPECT_THAT(sentence, testing::HasSubstr("does not hold the graph that the expert reads"));
  EXPECT_THAT(sentence, testing::Not(testing::HasSubstr("own options")));
}

TEST(Causes, LaunchesPerStepAreGroupedAndCounted) {
  RunOptions options = Options(4, 0);
  options.analysis = false;
  Story story(options);
  for (int i = 0; i < 3; ++i) {
    CandidateRecord& one = story.Add("seed" + std::to_string(i), "", "slower", 0.3);
    one.kernel_class = "launch_per_step";
    one.json = R"({"launches": {"candidate": 6150, "reference": 12}, "provenance": {"target": "cuda"}})";
    one.findings =
        R"([{"rule": "time-loop-on-host", "severity": "warning", "line": 12, "message": "a launch per step"}])";
  }
  story.Add("seed3", "", "wrong-output").error = 0.5;
  const std::vector<Cause> causes = FindCauses(story.Done());
  ASSERT_EQ(causes.size(), 2U);
  EXPECT_EQ(CauseSentence(causes[0], ReportLanguage::kEnglish),
            "One kernel launch per time step (3 of 4 candidates): 6,150 launches where 1 is enough.");
  EXPECT_EQ(CauseSentence(causes[0], ReportLanguage::kChinese),
            "每个时间步启动一次内核（4 个候选中有 3 个）：启动 6,150 次，而 1 次即可。");
  ASSERT_EQ(causes[0].findings.size(), 1U);
  EXPECT_EQ(causes[0].findings[0].candidates, 3);
  EXPECT_EQ(CauseSentence(causes[1], ReportLanguage::kEnglish),
            "Wrong output (1 of 4 candidates): the error is up to 0.5 where 1.00e-05 is allowed.");
}

TEST(Causes, SlownessIsTracedToItsNearestCause) {
  CandidateRecord one;
  one.verdict = "rejected";
  one.reason = "slower";
  one.candidate_us = 110;
  EXPECT_EQ(CauseOf(one), "slower");
  one.json = R"({"card": {"floor_us": 100}})";
  EXPECT_EQ(CauseOf(one), "near_floor");
  one.facts = R"({"library_calls": [{"name": "matmul", "in_loop": true}]})";
  EXPECT_EQ(CauseOf(one), "loop_on_host");
  one.json = R"({"launches": {"candidate": 40, "reference": 4}})";
  EXPECT_EQ(CauseOf(one), "many_launches");
  one.kernel_class = "launch_per_step";
  EXPECT_EQ(CauseOf(one), "launch_per_step");
  one.reason = "timeout";
  EXPECT_EQ(CauseOf(one), "timeout");
}

TEST(Explain, TellsEverythingOfARunAndTheBestFromTheSecond) {
  RunOptions options = Options(2, 3);
  Story story(options);
  CandidateRecord& first = story.Add("seed0", "", "faster", 2);
  first.source = "a\nb\nc\n";
  CandidateRecord& second = story.Add("seed1", "", "faster", 3);
  second.source = "a\nB\nc\n";
  second.kind = "kernel";
  const Explanation told = Explain(story.Done());
  EXPECT_EQ(told.outcome.id, "won");
  EXPECT_EQ(told.outcome.best_key, "seed1");
  ASSERT_TRUE(told.difference.has_value());
  EXPECT_EQ(told.difference->other_key, "seed0");
  EXPECT_TRUE(told.difference->real);
  EXPECT_THAT(told.difference->diff, HasSubstr("-b\n+B\n"));
  EXPECT_EQ(told.costs.size(), 1U);
  EXPECT_EQ(told.costs[0].judge_seconds, 4);
  EXPECT_EQ(told.next.back().command, "hone bench tasks/39_GRU.py /runs/r/best.py");
}

TEST(Explain, ABudgetThatIsSpentLeadsToTheResumeThatRaisesIt) {
  RunOptions options = Options(2, 3);
  options.budget.tokens = 100;
  Story story(options);
  story.Add("seed0", "", "slower", 0.5);
  story.story().run.status = "stopped";
  story.story().run.outcome = "the budget of 100 tokens is spent; so far: keep PyTorch";
  const Explanation told = Explain(story.Done());
  EXPECT_EQ(told.next.front().command, "hone resume 20260131-235959_39_GRU_llm --max-tokens 200");
  EXPECT_THAT(OutcomeSentence(told, ReportLanguage::kEnglish),
              HasSubstr("The run was stopped early: the budget of 100 tokens is spent."));
}

TEST(Explain, OneJudgedCandidateIsSingular) {
  for (const auto& [verdict, speed] : {std::pair("faster", 2.0), {"slower", 0.5}, {"wrong-output", 0.0}})
    for (const char* status : {"done", "stopped"}) {
      Story story(Options(1, 1));
      story.Add("seed0", "", verdict, speed);
      story.story().run.status = status;
      const std::string text = OutcomeSentence(Explain(story.Done()), ReportLanguage::kEnglish);
      EXPECT_THAT(text, HasSubstr("only judged candidate")) << verdict << " " << status;
      EXPECT_THAT(text, Not(HasSubstr("1 judged candidates"))) << verdict << " " << status;
    }
}

TEST(Explain, AFailedRunIsOverAndItsErrorEndsWithOnePeriod) {
  for (const auto& [status, unfinished] :
       {std::pair("failed", false), {"stopped", true}, {"running", true}}) {
    Story story(Options(1, 1));
    story.Add("seed0", "", "slower", 0.5);
    story.story().run.status = status;
    story.story().run.outcome = "name the buffers and parameters.";
    const Explanation told = Explain(story.Done());
    const std::string text = ExplanationDocument(told, ReportLanguage::kEnglish).Text(kOneLine);
    EXPECT_EQ(hone::Contains(text, "The run is not finished"), unfinished) << status;
    EXPECT_THAT(text, Not(HasSubstr(".."))) << status;
    EXPECT_EQ(hone::Contains(text, "name the buffers and parameters."), std::string(status) != "running");
  }
}

TEST(Explain, NothingOfAnEmptyRunIsMadeUp) {
  RunStory story;
  story.run.status = "running";
  story.run.options = DumpJson(ToJson(RunOptions{}));
  const Explanation told = Explain(story, true);
  EXPECT_EQ(told.outcome.id, "empty");
  EXPECT_EQ(told.outcome.status, "killed");
  EXPECT_THAT(told.causes, IsEmpty());
  EXPECT_FALSE(told.difference.has_value());
  EXPECT_EQ(told.next.front().id, "resume");
  const std::string text = ExplanationDocument(told, ReportLanguage::kEnglish).Text(kOneLine);
  EXPECT_THAT(text, HasSubstr("no process works on it any more"));
  EXPECT_THAT(text, Not(HasSubstr("?")));
}

TEST(Explain, ARunWithoutAnAnswerHasNoBestAndABusyMachineIsNamed) {
  Story failed(Options(1, 1));
  failed.Add("seed0", "", "slower", 0.5);
  failed.story().run.status = "failed";
  failed.story().run.outcome = "the disk is full; so far: nothing is accepted";
  const OrderedJson json = ToJson(Explain(failed.Done()), ReportLanguage::kEnglish);
  EXPECT_TRUE(json["outcome"]["best"].is_null());
  EXPECT_TRUE(json["run"]["best"].is_null());
  for (const OrderedJson& one : json["counterfactuals"])
    if (one["effect"] == "same_best" || one["effect"] == "never_used") {
      EXPECT_TRUE(one["best"].is_null()) << DumpJson(one);
    }

  Story busy(Options(1, 1));
  busy.Add("seed0", "", "machine-busy", 1.5).verdict = "inconclusive";
  const Explanation told = Explain(busy.Done());
  EXPECT_EQ(told.outcome.id, "kept_pytorch");
  EXPECT_THAT(OutcomeSentence(told, ReportLanguage::kEnglish), HasSubstr("the machine was too busy to tell"));
  const OrderedJson outcome = ToJson(told, ReportLanguage::kEnglish)["outcome"];
  EXPECT_EQ(outcome["best"], "pytorch");
  EXPECT_EQ(outcome["too_busy"], 1);
}

TEST(Explain, BrokenRecordsDoNotBreakIt) {
  Story story(Options(1, 1));
  CandidateRecord& one = story.Add("seed0", "", "\x1b[31mevil", 0);
  one.json = one.facts = one.findings = "{broken";
  story.story().run.card = "[";
  const Explanation told = Explain(story.Done());
  const std::string text = ExplanationDocument(told, ReportLanguage::kChinese).Text(kOneLine);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_FALSE(DumpJson(ToJson(told, ReportLanguage::kEnglish)).empty());
}

TEST(Explain, NamesTheRewritesAndWhatEachSaved) {
  RunStory story;
  story.run.id = 3;
  story.run.task = "80_Gemm";
  EXPECT_THAT(ExplanationDocument(Explain(story), ReportLanguage::kEnglish).Text(kOneLine),
              Not(HasSubstr("rewrites")));
  DecisionRecord decision;
  decision.key = "rewrites";
  decision.json = R"({"rules": [{"name": "sum_product_columns", "what": "sums the weights", "times": 2,
                      "operators": 1, "flops": 3e9, "bytes": 5e6}]})";
  story.decisions.push_back(decision);
  const Explanation told = Explain(story);
  ASSERT_EQ(told.rewrites.size(), 1u);
  EXPECT_EQ(told.rewrites[0].rule, "sum_product_columns");
  const std::string text = ExplanationDocument(told, ReportLanguage::kEnglish).Text(kOneLine);
  EXPECT_THAT(text, HasSubstr("What rewrites of the graph saved, per call"));
  EXPECT_THAT(text, testing::ContainsRegex("sum_product_columns +2 +1 +3 +5 +sums the weights"));
  EXPECT_EQ(ToJson(told, ReportLanguage::kEnglish)["rewrites"][0]["flops"], 3e9);
}

TEST(Explain, SaysHowLongTheExpertTook) {
  RunStory story;
  story.run.id = 3;
  EXPECT_THAT(ExplanationDocument(Explain(story), ReportLanguage::kEnglish).Text(kOneLine),
              Not(HasSubstr("The expert read")));
  DecisionRecord decision;
  decision.key = "expert_time";
  decision.json = R"({"seconds": 0.25, "candidates": 4})";
  story.decisions.push_back(decision);
  const Explanation told = Explain(story);
  EXPECT_THAT(ExplanationDocument(told, ReportLanguage::kEnglish).Text(kOneLine),
              HasSubstr("The expert read the graph and wrote its candidates in 250 ms."));
  EXPECT_EQ(ToJson(told, ReportLanguage::kEnglish)["expert_seconds"], 0.25);
}

}  // namespace
}  // namespace hone

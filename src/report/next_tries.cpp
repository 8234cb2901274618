#include "report/next_tries.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/shell_word.h"
#include "base/text.h"
#include "pipeline/rules.h"
#include "report/record_facts.h"

namespace hone {

namespace {

constexpr size_t kMost = 5;

// Runs of older versions have one decision for each recipe of the other device kind, which says nothing about
// the task.
bool IsForOtherDevice(const std::string& declined) {
  return EndsWith(declined, "it needs a GPU") || EndsWith(declined, "it is for the CPU");
}

class Tries {
 public:
  Tries(const RunStory& story, const Explanation& explanation)
      : story_(story),
        run_(story.run),
        told_(explanation),
        options_(RunOptionsFromJson(ParsedOrNull(story.run.options))) {}

  std::vector<NextTry> Find() {
    GoOn();
    if (told_.outcome.status == "running") return std::move(tries_);
    if (told_.outcome.id == "won") Winner();
    Unproposed();
    MoreOfTheSame();
    if (told_.outcome.id == "kept_pytorch" || told_.outcome.id == "none_right") SomebodyElse();
    if (told_.outcome.id == "won") Add("check_again", "hone bench " + Task() + " " + File("best.py"), {});
    if (tries_.size() > kMost) tries_.resize(kMost);
    return std::move(tries_);
  }

 private:
  void Add(const std::string& id, const std::string& command, std::vector<std::string> values) {
    for (const NextTry& one : tries_)
      if (one.id == id) return;
    tries_.push_back({id, command, std::move(values)});
  }

  std::string Task() const { return ShellWord(run_.task_path); }
  std::string File(const std::string& name) const {
    return ShellWord((fs::path(run_.folder) / name).string());
  }

  // The command that started this run, with additional flags.
  std::string Again(const std::string& flags) const {
    std::string command = "hone optimize " + Task();
    if (options_.proposer != "expert" && options_.proposer != "import")
      command += " --proposer " + ShellWord(options_.proposer);
    if (ModelPartOf(options_) == "llm" && !run_.model.empty()) command += " --model " + ShellWord(run_.model);
    return command + (flags.empty() ? "" : " " + flags);
  }

  // An unfinished run can be resumed.
  void GoOn() {
    const std::string& status = told_.outcome.status;
    const std::string resume = "hone resume " + ShellWord(run_.name);
    if (status == "running") return Add("wait", "hone show " + ShellWord(run_.name), {});
    if (status == "killed") return Add("resume", resume, {});
    if (status == "failed") return Add("resume_failed", resume, {WhyItEnded(run_)});
    if (status != "stopped") return;
    const Budget& budget = options_.budget;
    const int64_t tokens = story_.usage.prompt_tokens + story_.usage.completion_tokens;
    const int judged = told_.outcome.judged;
    if (budget.tokens > 0 && tokens >= budget.tokens)
      return Add("more_budget", fmt::format("{} --max-tokens {}", resume, 2 * budget.tokens),
                 {"--max-tokens", GroupedNumber(budget.tokens)});
    if (budget.usd > 0 && story_.usage.cost_usd >= budget.usd)
      return Add("more_budget", fmt::format("{} --max-usd {:g}", resume, 2 * budget.usd),
                 {"--max-usd", fmt::format("{:g}", budget.usd)});
    if (budget.calls > 0 && story_.usage.calls >= budget.calls)
      return Add("more_budget", fmt::format("{} --max-calls {}", resume, 2 * budget.calls),
                 {"--max-calls", fmt::format("{}", budget.calls)});
    if (budget.evaluations > 0 && judged >= budget.evaluations)
      return Add("more_budget", fmt::format("{} --max-evaluations {}", resume, 2 * budget.evaluations),
                 {"--max-evaluations", fmt::format("{}", budget.evaluations)});
    if (budget.minutes > 0 && run_.seconds >= 60 * budget.minutes)
      return Add("more_budget", fmt::format("{} --max-minutes {:g}", resume, 2 * budget.minutes),
                 {"--max-minutes", fmt::format("{:g}", budget.minutes)});
    Add("resume", resume, {});
  }

  void Winner() {
    for (const CandidateRecord& one : story_.candidates) {
      if (one.key != told_.outcome.best_key) continue;
      const CandidateFacts facts = FactsOf(one);
      if (facts.floor_share >= kAtTheFloor)
        Add("at_the_floor", "", {fmt::format("{:.0f}", 100 * facts.floor_share)});
      for (const Json& finding : ParsedOrNull(one.findings))
        if (GetString(finding, "severity") != "note" && GetString(finding, "rule") != "library-fallback")
          Add("fix_finding", "hone lint " + File("code/" + one.key + ".py"),
              {GetString(finding, "rule"), fmt::format("{}", GetInt(finding, "line")), one.key});
      if (one.kernel_class == "launch_per_step")
        Add("still_launches", Again(""), {one.key});
      else if (one.kind == "library" && run_.target != "cpu" && facts.floor_share < kAtTheFloor)
        Add("library_only", Again("--target triton"), {one.key});
    }
  }

  // Proposals without a verdict.
  void Unproposed() {
    int others = 0;
    for (const DecisionRecord& one : story_.decisions)
      others += StartsWith(one.key, "left_out:") && Contains(one.text, "not judged: others ") ? 1 : 0;
    if (others > 0)
      Add("judge_more", Again(fmt::format("--judge-at-most {}", options_.judge_at_most + others)),
          {fmt::format("{}", others)});
  }

  void MoreOfTheSame() {
    const std::string model = ModelPartOf(options_);
    if (model.empty()) return;
    // A recording has no more replies.
    if (StartsWith(model, "replay:")) return Parts();
    const std::string last_repair = fmt::format(".repair{}", options_.repairs);
    for (const CandidateRecord& one : story_.candidates)
      if (IsBroken(one) && (options_.repairs == 0 || EndsWith(one.key, last_repair)))
        Add("more_repairs", Again(fmt::format("--repairs {}", options_.repairs + 2)),
            {one.key, fmt::format("{}", options_.repairs), one.reason});
    Parts();
    if ((told_.outcome.id == "kept_pytorch" || told_.outcome.id == "none_right") && told_.outcome.judged > 0)
      Add("more_seeds", Again(fmt::format("--seeds {}", 2 * options_.seeds)),
          {fmt::format("{}", options_.seeds)});
  }

  // Parts that were switched off.
  void Parts() {
    for (const Counterfactual& one : told_.counterfactuals)
      if (one.part == "analysis" && one.effect == "was_off" && told_.outcome.id != "won")
        Add("with_analysis", Again(""), {});
    if (!options_.tuning && told_.outcome.id == "won") Add("with_tuning", Again(""), {});
  }

  void SomebodyElse() {
    if (!AsksExpert(options_)) return Add("ask_expert", "hone optimize " + Task(), {});
    std::string why;
    for (const DecisionRecord& one : story_.decisions)
      if (why.empty() && StartsWith(one.key, "declined:") && !IsForOtherDevice(one.text))
        why = TellingLine(one.text);
    Add(why.empty() ? "ask_model" : "ask_model_declined",
        "hone optimize " + Task() + " --proposer llm --model MODEL", {why});
  }

  const RunStory& story_;
  const RunRecord& run_;
  const Explanation& told_;
  const RunOptions options_;
  std::vector<NextTry> tries_;
};

}  // namespace

std::vector<NextTry> WhatToTryNext(const RunStory& story, const Explanation& explanation) {
  return Tries(story, explanation).Find();
}

}  // namespace hone

#include "report/explanation.h"

#include <algorithm>

#include "base/text.h"
#include "model/model.h"
#include "model/replies.h"
#include "pipeline/outcome.h"
#include "pipeline/rules.h"
#include "report/causes.h"
#include "report/counterfactual.h"
#include "report/difference.h"
#include "report/next_tries.h"
#include "report/record_facts.h"
#include "store/record_io.h"
#include "store/run_result.h"
#include "verdict/reasons.h"

namespace hone {

namespace {

Outcome OutcomeOf(const RunStory& story, bool abandoned) {
  const RunRecord& run = story.run;
  Outcome outcome;
  outcome.status = abandoned ? "killed" : run.status;
  outcome.task = run.task;
  outcome.device = run.device;
  outcome.recorded = run.outcome;
  RunRecord as_of_now = run;
  as_of_now.result = outcome.result = ResultOf(run, story.candidates);
  outcome.why = outcome.result == kNothingTried
                    ? WhyNothingTried(story.candidates, story.decisions)
                    : ResultSentence(as_of_now, story.candidates, story.decisions);
  const Json context = ParsedOrNull(run.card);
  outcome.floor_us = GetNumber(GetMember(context, "card"), "floor_us");
  outcome.best_baseline = BestOfPyTorch(story.candidates, GetString(context, "best_rung"));
  for (const CandidateRecord& one : story.candidates) {
    if (one.phase == "zero") continue;
    ++outcome.candidates;
    outcome.judged += one.judged() ? 1 : 0;
    outcome.accepted += one.accepted() ? 1 : 0;
  }
  const TimedCounts counts = CountTimed(story.candidates);
  outcome.too_busy = counts.too_busy;
  outcome.timed = counts.timed;
  const std::optional<CandidateRecord> best =
      Fastest(story.candidates, [](const CandidateRecord& one) { return one.accepted(); });
  if (!best) {
    outcome.id = story.candidates.empty() && story.calls.empty() ? "empty"
                 : outcome.status == "done"                      ? outcome.result
                 : outcome.judged == 0                           ? "nothing_judged"
                                                                 : "nothing_yet";
    return outcome;
  }
  outcome.id = "won";
  outcome.best_key = best->key;
  outcome.speed = SpeedOf(*best);
  outcome.vs_eager = best->vs_eager;
  outcome.kind = best->kind;
  outcome.candidate_us = best->candidate_us;
  const std::string baseline = FactsOf(*best).best_baseline;
  if (!baseline.empty()) outcome.best_baseline = baseline;
  return outcome;
}

bool IsAgainOf(const std::string& call, const std::string& key) {
  return call == key + ".again";
}

bool IsFirstOfCall(const CandidateRecord& one, const RunStory& story) {
  const std::string call = CallKeyOf(one.key);
  for (const CandidateRecord& other : story.candidates)
    if (CallKeyOf(other.key) == call) return other.key == one.key;
  return true;
}

TimelineRow RowOf(const CandidateRecord& one, const RunStory& story, const std::string& best_key) {
  TimelineRow row;
  row.phase = one.phase;
  row.key = one.key;
  row.parent = one.parent_key;
  row.verdict = one.verdict;
  row.reason = one.reason;
  row.note = one.verdict == NameOf(Decision::kRejected) ? TellingLine(one.detail) : TellingLine(one.title);
  row.speed = SpeedOf(one);
  row.error = one.error;
  row.error_limit = one.error_limit;
  row.judge_seconds = one.seconds;
  row.best = one.key == best_key;
  for (const DecisionRecord& decision : story.decisions)
    if (decision.key == "left_out:" + one.key) row.note = TellingLine(decision.text);
  for (const CallRecord& call : story.calls) {
    // If a call has several replies, its cost is shown with the first candidate.
    if (!(call.key == CallKeyOf(one.key) && IsFirstOfCall(one, story)) && !IsAgainOf(call.key, one.key))
      continue;
    row.tokens += call.prompt_tokens + call.completion_tokens;
    row.ask_seconds += call.seconds;
  }
  return row;
}

TimelineRow RowOf(const CallRecord& call, const RunStory& story) {
  TimelineRow row;
  row.phase = call.call_type;
  row.key = call.key;
  for (const DecisionRecord& decision : story.decisions)
    if (decision.key == call.key + ".sent_back") {
      row.verdict = "sent_back";
      row.note = TellingLine(decision.text);
    }
  row.tokens = call.prompt_tokens + call.completion_tokens;
  row.ask_seconds = call.seconds;
  if (!row.verdict.empty()) return row;
  row.verdict = call.status != "answered" ? "no_answer" : call.call_type == "analysis" ? "analysis" : "";
  row.reason = call.status == "answered" ? "" : call.status;
  row.note = TellingLine(call.error);
  for (const DecisionRecord& decision : story.decisions)
    if (decision.key == call.key || IsAgainOf(call.key, decision.key)) {
      const Json record = ParsedOrNull(decision.json);
      if (record.is_object())
        row.note = TellingLine(
            GetString(record, GetBool(record, "worth_optimizing", true) ? "optimisation_method" : "reason"));
    }
  return row;
}

// Candidates in order of creation. A call that made none follows the candidate that it was about.
std::vector<TimelineRow> TimelineOf(const RunStory& story, const std::string& best_key) {
  std::vector<TimelineRow> rows;
  for (const CandidateRecord& one : story.candidates) rows.push_back(RowOf(one, story, best_key));
  for (const CallRecord& call : story.calls) {
    const bool made_one = std::any_of(rows.begin(), rows.end(), [&](const TimelineRow& row) {
      return CallKeyOf(row.key) == call.key || (IsAgainOf(call.key, row.key) && call.call_type != "analysis");
    });
    if (made_one) continue;
    size_t behind = rows.size();
    size_t longest = 0;
    for (size_t i = 0; i < rows.size(); ++i)
      if (StartsWith(call.key, rows[i].key + ".") && rows[i].key.size() >= longest) {
        longest = rows[i].key.size();
        behind = i + 1;
      }
    rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(behind), RowOf(call, story));
  }
  return rows;
}

std::vector<PhaseCost> CostsOf(const RunStory& story) {
  std::vector<PhaseCost> costs;
  auto phase = [&](const std::string& name) -> PhaseCost& {
    for (PhaseCost& cost : costs)
      if (cost.phase == name) return cost;
    costs.push_back(PhaseCost{});
    costs.back().phase = name;
    return costs.back();
  };
  // In the pipeline's order, whatever the order here.
  for (const std::string& type : CallTypes())
    for (const CallRecord& call : story.calls) {
      if (call.call_type != type) continue;
      PhaseCost& cost = phase(type);
      CallRecord priced = call;
      // A call without a usable reply has no price.
      priced.price_known = call.price_known || call.status != "answered";
      AddCall(priced, &cost.usage);
      cost.failed += call.status == "answered" ? 0 : 1;
      cost.ask_seconds += call.seconds;
    }
  for (const CandidateRecord& one : story.candidates) {
    if (!one.judged() || one.phase == "zero") continue;
    PhaseCost& cost = phase(one.phase);
    ++cost.judged;
    cost.judge_seconds += one.seconds;
  }
  return costs;
}

// Reads the rewrites that pipeline/expert_stage.cpp recorded.
std::vector<RewriteUse> RewritesOf(const RunStory& story) {
  std::vector<RewriteUse> used;
  for (const DecisionRecord& decision : story.decisions) {
    if (decision.key != "rewrites") continue;
    const Json record = ParsedOrNull(decision.json);
    const Json& rules = GetMember(record, "rules");
    if (!rules.is_array()) continue;
    for (const Json& rule : rules)
      used.push_back({GetString(rule, "name"), GetString(rule, "what"), GetInt(rule, "times"),
                      GetInt(rule, "operators"), GetNumber(rule, "flops"), GetNumber(rule, "bytes")});
  }
  return used;
}

double ExpertSecondsOf(const RunStory& story) {
  for (const DecisionRecord& decision : story.decisions)
    if (decision.key == "expert_time") return GetNumber(ParsedOrNull(decision.json), "seconds");
  return 0;
}

}  // namespace

Speed SpeedOf(const CandidateRecord& candidate) {
  return Speed{candidate.vs_best, candidate.ci_low, candidate.ci_high};
}

Explanation Explain(const RunStory& story, bool abandoned) {
  Explanation told;
  told.run = story.run;
  told.run.task_source.clear();
  told.run.card.clear();
  told.outcome = OutcomeOf(story, abandoned);
  told.run.result = told.outcome.result;
  told.timeline = TimelineOf(story, told.outcome.best_key);
  told.operators = OperatorsOf(story);
  if (!told.operators.empty()) told.ancestors = AncestorsOf(story, told.outcome.best_key);
  told.mending = MendingOf(story.run, story.candidates, story.decisions);
  told.expert_seconds = ExpertSecondsOf(story);
  told.rewrites = RewritesOf(story);
  told.causes = FindCauses(story);
  told.difference = DecisiveDifference(story);
  told.counterfactuals = Counterfactuals(story);
  told.costs = CostsOf(story);
  told.usage = story.usage;
  told.next = WhatToTryNext(story, told);
  return told;
}

}  // namespace hone

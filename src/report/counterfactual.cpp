#include "report/counterfactual.h"

#include <algorithm>

#include "pipeline/rules.h"
#include "report/record_walk.h"

namespace hone {

namespace {

std::set<std::string> JudgedKeys(const RunStory& story) {
  std::set<std::string> keys;
  for (const CandidateRecord& one : story.candidates)
    if (one.phase != "zero" && one.judged()) keys.insert(one.key);
  return keys;
}

// The walk with the run's own options leads exactly to the record if the run is done, and to all of the
// record otherwise.
bool ExplainsItself(const RunStory& story, const Walked& own) {
  if (own.candidates != JudgedKeys(story)) return false;
  return story.run.status != "done" || own.unknown.empty();
}

Counterfactual WithoutPart(const RunStory& story, const std::string& part, const RunOptions& options,
                           const Walked& own, const Questions& asked) {
  Counterfactual result;
  result.part = part;
  const Walked other = WalkOtherWay(story, options, asked);
  std::vector<CandidateRecord> certain;
  for (const CandidateRecord& one : story.candidates) {
    if (other.candidates.count(one.key) != 0) {
      certain.push_back(one);
    } else if (own.candidates.count(one.key) != 0) {
      result.lost.push_back(one.key);
      result.seconds_saved += one.seconds;
    }
  }
  for (const CallRecord& call : story.calls) {
    if (own.calls.count(call.key) == 0 || other.calls.count(call.key) != 0) continue;
    ++result.calls_saved;
    result.tokens_saved += call.prompt_tokens + call.completion_tokens;
    result.usd_saved += call.cost_usd;
    result.seconds_saved += call.seconds;
  }
  // Requests that the run itself has not reached yet say nothing about the part.
  for (const auto& unknown : other.unknown)
    if (std::find(own.unknown.begin(), own.unknown.end(), unknown) == own.unknown.end())
      result.unknown.push_back(unknown);
  const auto accepted = [](const CandidateRecord& one) { return one.accepted(); };
  const std::optional<CandidateRecord> best = Fastest(certain, accepted);
  const std::optional<CandidateRecord> own_best = Fastest(story.candidates, accepted);
  result.best_key = best ? best->key : "";
  result.verdict = best ? best->verdict : "baseline";
  result.speed = best ? SpeedOf(*best) : Speed{1, 1, 1};
  result.exact = result.unknown.empty();
  const bool same = result.best_key == (own_best ? own_best->key : "");
  result.effect = !result.exact                                    ? "at_least"
                  : result.lost.empty() && result.calls_saved == 0 ? "never_used"
                  : same                                           ? "same_best"
                                                                   : "other_best";
  return result;
}

}  // namespace

std::vector<Counterfactual> Counterfactuals(const RunStory& story) {
  const Result<Json> json = ParseJson(story.run.options);
  const RunOptions own = RunOptionsFromJson(json.ok() ? *json : Json());
  const bool has_parts = !ModelPartOf(own).empty();
  Questions asked;
  // The expert reads a graph that is not on record, so a run with its candidates cannot be walked again.
  const bool can_walk = has_parts && !AsksExpert(own);
  const Walked walked = can_walk ? WalkOwnWay(story, own, &asked) : Walked{};
  const bool explains = json.ok() && (!has_parts || (can_walk && ExplainsItself(story, walked)));
  std::vector<Counterfactual> all;
  auto add = [&](const char* part, bool is_on, const RunOptions& without) {
    if (has_parts && explains && is_on) {
      all.push_back(WithoutPart(story, part, without, walked, asked));
      return;
    }
    Counterfactual none;
    none.part = part;
    none.effect = !has_parts ? "not_part" : !explains ? "not_recomputable" : "was_off";
    none.exact = explains;
    all.push_back(none);
  };
  RunOptions without = own;
  without.repairs = 0;
  add("repair", own.repairs > 0, without);
  without = own;
  without.analysis = false;
  add("analysis", own.analysis, without);
  without = own;
  without.seeds = 1;
  add("seeds", own.seeds > 1, without);
  without = own;
  without.class_check = false;
  add("class_check", own.class_check, without);
  if (own.mend) {
    without = own;
    without.mend = false;
    add("mend", true, without);
  }
  if (own.replies > 1) {
    without = own;
    without.replies = 1;
    add("replies", true, without);
  }
  if (own.search == "population") {
    without = own;
    without.search = "classic";
    add("population", true, without);
  }
  return all;
}

}  // namespace hone

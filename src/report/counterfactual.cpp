#include "report/counterfactual.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "pipeline/candidate_judge.h"

namespace hone {

namespace {

// What asking for a candidate came to.
struct Step {
  const CandidateRecord* candidate = nullptr;
  bool open = false;  // not known: the record does not hold what this way asks for
};

// Follows pipeline/{spine,branch,tuning}.cpp stage by stage. Whatever changes there changes here.
class Walk {
 public:
  Walk(const RunStory& story, const RunOptions& options) : story_(story), options_(options) {
    const Result<Json> context = ParseJson(story.run.card);
    if (context.ok()) card_ = TaskContextFromJson(*context).card;
  }

  Walked Run() {
    for (int seed = 0; seed < options_.seeds; ++seed) Branch(fmt::format("seed{}", seed));
    // What tuning starts from is known only when all branches are.
    if (walked_.unknown.empty()) Tuning();
    return std::move(walked_);
  }

 private:
  const CandidateRecord* Candidate(const std::string& key) const {
    for (const CandidateRecord& one : story_.candidates)
      if (one.key == key) return &one;
    return nullptr;
  }

  const CallRecord* Call(const std::string& key) const {
    for (const CallRecord& one : story_.calls)
      if (one.key == key) return &one;
    return nullptr;
  }

  const DecisionRecord* Decision(const std::string& key) const {
    for (const DecisionRecord& one : story_.decisions)
      if (one.key == key) return &one;
    return nullptr;
  }

  Step Unknown(const std::string& key, const std::string& why) {
    walked_.unknown.emplace_back(key, why);
    return Step{nullptr, true};
  }

  void ReachCalls(const std::string& key) {
    for (const std::string& one : {key, key + ".again"})
      if (Call(one) != nullptr) walked_.calls.insert(one);
  }

  Step Propose(const std::string& key, const std::string& parent, bool same_prompt) {
    if (!same_prompt) return Unknown(key, "other_prompt");
    const CandidateRecord* candidate = Candidate(key);
    if (candidate != nullptr) {
      if (candidate->parent_key != parent) return Unknown(key, "other_base");
      ReachCalls(key);
      if (!candidate->judged()) return Unknown(key, "unfinished");
      walked_.candidates.insert(key);
      return Step{candidate, false};
    }
    const CallRecord* again = Call(key + ".again");
    const CallRecord* call = again != nullptr ? again : Call(key);
    if (call == nullptr) return Unknown(key, "never_asked");
    ReachCalls(key);
    return call->status == "answered" ? Unknown(key, "unfinished") : Step{};
  }

  Step ProposeAndRepair(const std::string& key, const std::string& parent,
                        const std::optional<AnalysisRecord>& asked) {
    const Step first = Propose(key, parent, true);
    if (first.candidate == nullptr) return first;
    const CandidateRecord* current = first.candidate;
    const CandidateRecord* best = current;
    for (int repair = 1; repair <= options_.repairs; ++repair) {
      const bool mismatch = asked && !current->accepted() && !NotWhatWasAsked(*asked, *current).empty();
      if (!IsBroken(*current) && !(mismatch && options_.class_check)) break;
      const Step next =
          Propose(fmt::format("{}.repair{}", key, repair), current->key, !mismatch || options_.class_check);
      if (next.open) return next;
      if (next.candidate == nullptr) break;
      current = next.candidate;
      if (IsRight(*current) && (!IsRight(*best) || current->vs_best > best->vs_best)) best = current;
    }
    return Step{IsRight(*best) ? best : current, false};
  }

  void Branch(const std::string& key) {
    const Step best = ProposeAndRepair(key, "", std::nullopt);
    if (best.candidate == nullptr || !FailedOrLost(*best.candidate) || !options_.analysis) return;
    const std::string analysis_key = best.candidate->key + ".analysis";
    const DecisionRecord* decision = Decision(analysis_key);
    if (decision == nullptr) {
      Unknown(analysis_key, Call(analysis_key) != nullptr ? "unfinished" : "never_asked");
      return;
    }
    ReachCalls(analysis_key);
    const Result<Json> json = ParseJson(decision->json);
    if (!json.ok() || !json->is_object()) return;
    const Result<AnalysisRecord> analysis = AnalysisFromJson(*json);
    if (!analysis.ok() || !analysis->worth_optimizing) return;
    ProposeAndRepair(key + ".algorithm", best.candidate->key, *analysis);
  }

  void Tuning() {
    std::vector<CandidateRecord> reached;
    for (const CandidateRecord& one : story_.candidates)
      if (walked_.candidates.count(one.key) != 0) reached.push_back(one);
    const std::optional<CandidateRecord> base = Fastest(reached, IsRight);
    if (!base || !WhyNotTuned(*base, options_, card_, story_.decisions).empty()) return;
    const CandidateRecord* best = Candidate(base->key);
    for (const char* stage : kTuningStages) {
      const std::string key = std::string(kTuningKeys) + stage;
      const Step made = ProposeAndRepair(key, best->key, std::nullopt);
      if (made.open) return;
      if (made.candidate == nullptr) continue;
      const CandidateRecord* winner = made.candidate;
      if (IsRight(*winner)) {
        const Step found = Search(*winner, key);
        if (found.open) return;
        if (found.candidate != nullptr && found.candidate->vs_best > winner->vs_best)
          winner = found.candidate;
      }
      if (StageIsBetter(*winner, *best)) best = winner;
    }
  }

  // The candidates that a search over the tunables of `base` led to.
  Step Search(const CandidateRecord& base, const std::string& key) {
    Step best;
    for (const CandidateRecord& one : story_.candidates) {
      if (!StartsWith(one.key, key + ".tuned")) continue;
      if (one.parent_key != base.key) return Unknown(key + ".tuned1", "other_base");
      if (!one.judged()) return Unknown(one.key, "unfinished");
      walked_.candidates.insert(one.key);
      if (IsRight(one) && (best.candidate == nullptr || one.vs_best > best.candidate->vs_best))
        best.candidate = &one;
    }
    return best;
  }

  const RunStory& story_;
  const RunOptions& options_;
  Json card_;
  Walked walked_;
};

std::set<std::string> Judged(const RunStory& story) {
  std::set<std::string> keys;
  for (const CandidateRecord& one : story.candidates)
    if (one.phase != "zero" && one.judged()) keys.insert(one.key);
  return keys;
}

// The record is what the walk with the run's own options leads to, no more and, if the run is done, no less.
bool ExplainsItself(const RunStory& story, const Walked& own) {
  if (own.candidates != Judged(story)) return false;
  return story.run.status != "done" || own.unknown.empty();
}

Counterfactual WithoutPart(const RunStory& story, const std::string& part, const RunOptions& options,
                           const Walked& own) {
  Counterfactual result;
  result.part = part;
  const Walked other = WalkAgain(story, options);
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
  // What the run itself has not come to yet says nothing about the part.
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

Walked WalkAgain(const RunStory& story, const RunOptions& options) {
  return Walk(story, options).Run();
}

std::vector<Counterfactual> Counterfactuals(const RunStory& story) {
  const Result<Json> json = ParseJson(story.run.options);
  const RunOptions own = RunOptionsFromJson(json.ok() ? *json : Json());
  const bool has_parts = own.proposer != "expert" && own.proposer != "import";
  const Walked walked = has_parts ? WalkAgain(story, own) : Walked{};
  const bool explains = json.ok() && (!has_parts || ExplainsItself(story, walked));
  std::vector<Counterfactual> all;
  auto add = [&](const char* part, bool is_on, const RunOptions& without) {
    if (has_parts && explains && is_on) {
      all.push_back(WithoutPart(story, part, without, walked));
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
  return all;
}

}  // namespace hone

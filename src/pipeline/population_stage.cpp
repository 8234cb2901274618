// The search after the opening: step by step, a candidate is made from what the run knows by now, and judged.
// Which operator and which parents are chosen is decided in operator_choice.h and written down before
// anything is asked ("gen12"); what came of it is written down behind it ("gen12.end"). A step that has ended
// is not made again, so resuming goes on where the run was.
//
// Steps come in groups of `breadth`: the members of a group are chosen from the same archive, and made side
// by side where the model allows it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <thread>

#include "base/text.h"
#include "model/replies.h"
#include "model/tunables.h"
#include "pipeline/prompt_facts.h"
#include "pipeline/spine.h"
#include "store/record_io.h"

namespace hone {

namespace {

constexpr char kEnd[] = ".end";
// A verdict takes the device's time, which is worth a part of a call.
constexpr double kVerdictCost = 0.2;
constexpr size_t kMostOthers = 4;
constexpr size_t kMostOfEach = 2;

std::string StepKey(int number) {
  return fmt::format("{}{}", kStepKeys, number);
}

SearchStep StepFrom(int number, const Json& choice) {
  SearchStep step;
  step.number = number;
  step.op = OperatorFromName(GetString(choice, "operator"));
  const Json& parents = GetMember(choice, "parents");
  if (parents.is_array())
    for (const Json& parent : parents)
      if (parent.is_string()) step.parents.push_back(parent.get<std::string>());
  return step;
}

void TakeEnd(const Json& end, SearchStep* step) {
  step->ended = true;
  step->answered = GetBool(end, "answered");
  step->gain = GetNumber(end, "gain");
  step->cost = GetNumber(end, "cost");
}

std::string ChoiceText(int number, const StepChoice& choice) {
  return fmt::format("{}: {}{}", StepKey(number), NameOf(choice.op),
                     choice.parents.empty() ? "" : " " + Join(choice.parents, " and "));
}

Json ChoiceJson(const StepChoice& choice) {
  Json scores = Json::object();
  for (const OperatorScore& one : choice.scores)
    scores[NameOf(one.op)] = {{"score", one.score}, {"steps", one.steps}, {"possible", one.possible}};
  return {{"operator", NameOf(choice.op)}, {"parents", choice.parents}, {"scores", scores}};
}

}  // namespace

Status Spine::Population() {
  // A model that plays a recording counts what was asked before; steps that have ended are skipped below.
  HONE_ASSIGN_OR_RETURN(const std::vector<CallRecord> calls,
                        recorder_.store().CallSummaries(recorder_.run().id));
  HONE_ASSIGN_OR_RETURN(const SearchArchive earlier, ReadArchive(0));
  const auto ended = [&](int number) {
    return std::any_of(earlier.steps.begin(), earlier.steps.end(),
                       [&](const SearchStep& step) { return step.number == number && step.ended; });
  };
  for (const CallRecord& call : calls)
    if (call.status == "answered" && ended(StepOf(call.key))) model_->MarkAnswered(call.call_type, call.key);

  const int breadth = std::max(1, options_.breadth);
  for (int first = 1;; first += breadth) {
    HONE_ASSIGN_OR_RETURN(SearchArchive archive, ReadArchive(first));
    const std::string why = WhySearchEnds(archive, options_);
    if (!why.empty()) return recorder_.Decide("search", "search", "the search ends: " + why);
    std::vector<std::pair<int, StepChoice>> open, group;
    for (int number = first; number < first + breadth; ++number) {
      HONE_ASSIGN_OR_RETURN(StepChoice choice, DecideStep(archive, number));
      SearchStep pending;
      pending.number = number;
      pending.op = choice.op;
      pending.parents = choice.parents;
      archive.steps.push_back(pending);
      if (!ended(number)) open.emplace_back(number, choice);
      group.emplace_back(number, std::move(choice));
    }
    HONE_RETURN_IF_ERROR(MakeSteps(open));
    for (const auto& [number, choice] : group)
      if (!ended(number)) HONE_RETURN_IF_ERROR(EndStep(number, choice));
  }
}

// What is there when step `before_step` is chosen; 0: all of it. In the order of steps and keys, because
// steps side by side reach the store in any order.
Result<SearchArchive> Spine::ReadArchive(int before_step) {
  RunStore& store = recorder_.store();
  SearchArchive archive;
  HONE_ASSIGN_OR_RETURN(const std::vector<CandidateRecord> all, store.CandidateSummaries(recorder_.run().id));
  for (const CandidateRecord& one : all) {
    if (one.phase == "zero" || !one.judged()) continue;
    if (before_step > 0 && StepOf(one.key) >= before_step) continue;
    const std::scoped_lock lock(members_mutex_);
    // A member never changes, and reading all sources again at every step would take the square of the run.
    auto known = members_.find(one.key);
    if (known == members_.end()) {
      HONE_ASSIGN_OR_RETURN(const std::optional<CandidateRecord> whole,
                            store.Candidate(recorder_.run().id, one.key));
      if (!whole) continue;
      known = members_.emplace(one.key, MemberOf(*whole, options_, context_.card)).first;
    }
    archive.members.push_back(known->second);
  }
  std::sort(archive.members.begin(), archive.members.end(),
            [](const ArchiveMember& a, const ArchiveMember& b) {
              return a.step != b.step ? a.step < b.step : a.key < b.key;
            });
  HONE_ASSIGN_OR_RETURN(const std::vector<DecisionRecord> decisions, store.Decisions(recorder_.run().id));
  std::map<int, SearchStep> steps;
  for (const DecisionRecord& one : decisions) {
    const int number = StepOf(one.key);
    if (number == 0 || one.key != StepKey(number) || (before_step > 0 && number >= before_step)) continue;
    steps[number] = StepFrom(number, ParsedOrEmpty(one.json));
  }
  for (const DecisionRecord& one : decisions) {
    const auto step = steps.find(StepOf(one.key));
    if (step != steps.end() && one.key == StepKey(step->first) + kEnd)
      TakeEnd(ParsedOrEmpty(one.json), &step->second);
  }
  for (auto& [number, step] : steps) archive.steps.push_back(std::move(step));
  return archive;
}

// Decided once: what was written down holds, whatever came into the archive since.
Result<StepChoice> Spine::DecideStep(const SearchArchive& archive, int number) {
  HONE_ASSIGN_OR_RETURN(const std::optional<DecisionRecord> taken,
                        recorder_.store().Decision(recorder_.run().id, StepKey(number)));
  if (taken) {
    const SearchStep step = StepFrom(number, ParsedOrEmpty(taken->json));
    return StepChoice{step.op, step.parents, {}};
  }
  StepChoice choice = ChooseStep(archive, options_, number);
  HONE_RETURN_IF_ERROR(
      recorder_.Decide(StepKey(number), "search", ChoiceText(number, choice), ChoiceJson(choice)));
  return choice;
}

int Spine::FirstOfGroup(int number) const {
  const int breadth = std::max(1, options_.breadth);
  return (number - 1) / breadth * breadth + 1;
}

Status Spine::MakeSteps(const std::vector<std::pair<int, StepChoice>>& steps) {
  if (steps.size() < 2 || model_->order_matters()) {
    for (const auto& [number, choice] : steps) HONE_RETURN_IF_ERROR(MakeStep(number, choice));
    return Ok();
  }
  std::vector<Status> ended(steps.size(), Ok());
  {
    std::vector<std::thread> makers;
    for (size_t i = 0; i < steps.size(); ++i)
      makers.emplace_back([this, i, &steps, &ended] {
        try {
          ended[i] = MakeStep(steps[i].first, steps[i].second);
        } catch (const std::exception& error) {
          ended[i] = Error{ErrorKind::kInternal, error.what()};
        }
      });
    for (std::thread& maker : makers) maker.join();
  }
  for (Status& status : ended) HONE_RETURN_IF_ERROR(std::move(status));
  return Ok();
}

Status Spine::MakeStep(int number, const StepChoice& choice) {
  const std::string key = fmt::format("{}.{}", StepKey(number), NameOf(choice.op));
  std::vector<CandidateRecord> parents;
  for (const std::string& parent : choice.parents) {
    HONE_ASSIGN_OR_RETURN(const std::optional<CandidateRecord> record,
                          recorder_.store().Candidate(recorder_.run().id, parent));
    if (!record) return Error{ErrorKind::kInternal, "the parent " + parent + " is not in the store"};
    parents.push_back(*record);
  }
  if (choice.op == Operator::kTune) return TuneStep(key, parents.at(0));
  PromptInputs inputs = Inputs(NameOf(choice.op));
  HONE_ASSIGN_OR_RETURN(inputs.search, SearchFacts(choice, number));
  std::string first, second;
  if (!parents.empty()) {
    first = parents[0].key;
    inputs.candidate_source = parents[0].source;
    inputs.findings = ParsedOrEmpty(parents[0].findings);
    inputs.verdict = VerdictFacts(parents[0]);
    HONE_ASSIGN_OR_RETURN(inputs.profile, StepProfile(choice.op, parents[0], number));
  }
  if (parents.size() > 1) {
    second = parents[1].key;
    inputs.search["second_source"] = parents[1].source;
    inputs.search["second_result"] = ReachedFacts(parents[1], GetNumber(context_.card, "floor_us"));
    HONE_ASSIGN_OR_RETURN(inputs.search["second_profile"], StepProfile(choice.op, parents[1], number));
  }
  HONE_RETURN_IF_ERROR(ProposeAndJudge(key, first, inputs, second));
  return Ok();
}

// Counters are read for a candidate that is to be improved. Another operator only takes what was read in an
// earlier group of steps: a step that is made again after a kill finds the same.
Result<Json> Spine::StepProfile(Operator op, const CandidateRecord& parent, int number) {
  if (op == Operator::kImprove || !IsRight(parent)) return ProfileForPrompt(parent);
  HONE_ASSIGN_OR_RETURN(const SearchArchive archive, ReadArchive(FirstOfGroup(number)));
  const bool was_read =
      Uses(archive, parent.key, Operator::kImprove) + Uses(archive, parent.key, Operator::kTune) > 0;
  return was_read ? ProfileForPrompt(parent) : TimeFacts(parent);
}

// Numbers first, if the candidate declares some that nobody searched; then a stage of tuning at a time, which
// a model restructures for.
Status Spine::TuneStep(const std::string& key, const CandidateRecord& parent) {
  // A profile may be a reason. It is taken first, so that it is none only for those who come later.
  HONE_ASSIGN_OR_RETURN(const KernelProfile profile, Profile(parent));
  HONE_ASSIGN_OR_RETURN(const std::string why_not, WhyNotTunedNow(parent));
  if (!why_not.empty())
    return recorder_.Decide(key, "tuning", fmt::format("no tuning of {}: {}", parent.key, why_not));
  HONE_ASSIGN_OR_RETURN(const SearchArchive archive, ReadArchive(StepOf(key)));
  const int before = Uses(archive, parent.key, Operator::kTune);
  const Result<std::vector<Tunable>> tunables = ReadTunables(parent.source);
  const bool declares = tunables.ok() && !tunables->empty() && parent.phase != "tuned";
  const int stage = before - (declares ? 1 : 0);
  if (stage < 0) {
    HONE_RETURN_IF_ERROR(Search(parent, key));
    return Ok();
  }
  if (stage >= static_cast<int>(std::size(kTuningStages)))
    return recorder_.Decide(key, "tuning", fmt::format("no tuning of {}: every stage was tried", parent.key));
  const std::string call_type = std::string("stage_") + kTuningStages[stage];
  PromptInputs inputs = Inputs(call_type);
  inputs.candidate_source = parent.source;
  inputs.findings = ParsedOrEmpty(parent.findings);
  inputs.verdict = VerdictFacts(parent);
  inputs.profile = TimeFacts(parent, profile);
  HONE_ASSIGN_OR_RETURN(const std::optional<CandidateRecord> made, ProposeAndJudge(key, parent.key, inputs));
  if (made && IsRight(*made)) HONE_RETURN_IF_ERROR(Search(*made, key));
  return Ok();
}

Status Spine::EndStep(int number, const StepChoice& choice) {
  RunStore& store = recorder_.store();
  HONE_ASSIGN_OR_RETURN(const SearchArchive before, ReadArchive(number));
  HONE_ASSIGN_OR_RETURN(const SearchArchive after, ReadArchive(number + 1));
  const ArchiveMember* made = nullptr;
  int judged = 0;
  for (const ArchiveMember& one : after.members) {
    if (one.step != number) continue;
    ++judged;
    if (made == nullptr || one.vs_best > made->vs_best) made = &one;
  }
  HONE_ASSIGN_OR_RETURN(std::vector<CallRecord> calls, store.CallSummaries(recorder_.run().id));
  // Calls side by side reach the store in any order, and a sum of dollars depends on its order.
  std::sort(calls.begin(), calls.end(),
            [](const CallRecord& a, const CallRecord& b) { return a.key < b.key; });
  UsageTotals all, own;
  bool answered = judged > 0;
  for (const CallRecord& call : calls) {
    AddCall(call, &all);
    if (StepOf(call.key) != number) continue;
    AddCall(call, &own);
    answered = answered || call.status == "answered";
  }
  answered = answered || own.calls == 0;
  const bool priced = all.price_known && all.cost_usd > 0;
  const double in_calls =
      priced ? own.cost_usd * static_cast<double>(all.calls) / all.cost_usd : static_cast<double>(own.calls);
  const double best_before = BestOf(before.members);
  const double best_after = BestOf(after.members);
  std::string text = StepKey(number) + ": ";
  if (made == nullptr)
    text += "no candidate came";
  else if (!made->right)
    text += made->key + " does not work";
  else
    text += fmt::format("{} is {:.2f}x{}", made->key, made->vs_best,
                        best_after > best_before ? ", the best so far" : "");
  return recorder_.Decide(StepKey(number) + kEnd, "search", text,
                          {{"operator", NameOf(choice.op)},
                           {"made", made == nullptr ? "" : made->key},
                           {"right", made != nullptr && made->right},
                           {"answered", answered},
                           {"gain", std::log(best_after / best_before)},
                           {"cost", in_calls + kVerdictCost * judged},
                           {"best", best_after},
                           {"calls", own.calls},
                           {"tokens", own.total()},
                           {"usd", own.cost_usd},
                           {"judged", judged}});
}

// What its author said of it: the recipe's title, or the words before the code.
Result<std::string> Spine::DescriptionOf(const CandidateRecord& candidate) {
  if (!candidate.title.empty()) return candidate.title;
  const size_t number = static_cast<size_t>(ReplyNumberOf(candidate.key));
  for (const char* again : {".again", ""}) {
    HONE_ASSIGN_OR_RETURN(
        const std::optional<CallRecord> call,
        recorder_.store().Call(recorder_.run().id, CallKeyOf(candidate.key) + (number == 1 ? again : "")));
    if (!call || call->status != "answered") continue;
    const std::vector<ReplyChoice> more = RepliesFrom(call->more_replies);
    if (number <= more.size() + 1) return DescriptionIn(number == 1 ? call->reply : more[number - 2].text);
  }
  return std::string();
}

// What the prompt of a step says of the other candidates (model/search_values.h), from the archive that the
// step was chosen from, so that a step which is made again after a kill asks the same.
Result<Json> Spine::SearchFacts(const StepChoice& choice, int number) {
  HONE_ASSIGN_OR_RETURN(const SearchArchive archive, ReadArchive(FirstOfGroup(number)));
  const auto row = [&](const ArchiveMember& member) -> Result<Json> {
    HONE_ASSIGN_OR_RETURN(const std::optional<CandidateRecord> one,
                          recorder_.store().Candidate(recorder_.run().id, member.key));
    if (!one) return Json(nullptr);
    HONE_ASSIGN_OR_RETURN(const std::string what, DescriptionOf(*one));
    return Json({{"kind", member.kind}, {"result", ResultFacts(*one)}, {"what", what}});
  };
  Json others = Json::array();
  Json tried = Json::array();
  for (const ArchiveMember* one : Parents(archive)) {
    if (others.size() == kMostOthers) break;
    if (std::find(choice.parents.begin(), choice.parents.end(), one->key) != choice.parents.end()) continue;
    HONE_ASSIGN_OR_RETURN(Json other, row(*one));
    others.push_back(std::move(other));
  }
  Json facts = {{"others", others}};
  const double floor_us = GetNumber(context_.card, "floor_us");
  if (floor_us > 0) facts["floor"] = HumanSeconds(floor_us * 1e-6);
  if (choice.parents.empty()) return facts;
  // Of two parents each has its share of the rows; what was made from both of them has its own.
  const bool two = choice.parents.size() > 1;
  const size_t most = two ? kMostOfEach : kMostOthers;
  std::map<std::string, size_t> shown;
  for (auto one = archive.members.rbegin(); one != archive.members.rend(); ++one) {
    const auto made_from = [&](const std::string& key) {
      return one->parent == key || one->other_parent == key;
    };
    const bool from_first = made_from(choice.parents[0]);
    const bool from_second = two && made_from(choice.parents[1]);
    if (!from_first && !from_second) continue;
    const char* from = from_first && from_second ? "both" : from_first ? "the first" : "the second";
    if (shown[from]++ >= most) continue;
    HONE_ASSIGN_OR_RETURN(Json attempt, row(*one));
    if (two) attempt["from"] = from;
    tried.push_back(std::move(attempt));
  }
  facts["tried"] = tried;
  HONE_ASSIGN_OR_RETURN(const std::optional<CandidateRecord> parent,
                        recorder_.store().Candidate(recorder_.run().id, choice.parents[0]));
  if (parent && IsRight(*parent)) facts["reached"] = ReachedFacts(*parent, floor_us);
  return facts;
}

}  // namespace hone

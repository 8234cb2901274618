// The search after the opening. Each step makes a candidate from the run's present knowledge and judges it.
// operator_choice.h chooses the operator and the parents. The choice is recorded before any request
// ("gen12"), and the result afterwards ("gen12.end"). A finished step is not repeated, so a resumed run
// continues where it was.
//
// Steps come in groups of `breadth`: the members of a group are chosen from the same archive, and run in
// parallel if the model allows it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <thread>

#include "base/text.h"
#include "model/replies.h"
#include "model/tunables.h"
#include "pipeline/mending.h"
#include "pipeline/prompt_facts.h"
#include "pipeline/spine.h"
#include "store/record_io.h"

namespace hone {

namespace {

constexpr char kEnd[] = ".end";
// A verdict takes the device's time, which counts as a part of a call.
constexpr double kVerdictCost = 0.2;
constexpr size_t kMostOthers = 4;
constexpr size_t kMostDesigns = 6;  // in the prompt of a restart: of those that work, and of the others
constexpr size_t kMostOfEach = 2;

std::string StepKey(int number) {
  return fmt::format("{}{}", kStepKeys, number);
}

// Profiles of candidates, by key, that an earlier step requested. Records of older versions do not name the
// step; their kinds have no profile.
std::map<std::string, KernelProfile> ProfilesBefore(int before_step,
                                                    const std::vector<DecisionRecord>& decisions) {
  std::map<std::string, KernelProfile> profiles;
  for (const DecisionRecord& one : decisions) {
    if (one.phase != "profile" || !StartsWith(one.key, kProfileKeys)) continue;
    const Json json = ParsedOrEmpty(one.json);
    const int64_t step = GetInt(json, "step", -1);
    if (step < 0 || (before_step > 0 && step >= before_step)) continue;
    profiles.emplace(one.key.substr(sizeof(kProfileKeys) - 1), KernelProfileFromJson(json));
  }
  return profiles;
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
  return fmt::format("{}: {}{}{}", StepKey(number), NameOf(choice.op),
                     choice.parents.empty() ? "" : " " + Join(choice.parents, " and "),
                     choice.left_out.empty() ? "" : ", as recorded, is left out: " + choice.left_out);
}

Json ChoiceJson(const StepChoice& choice) {
  Json scores = Json::object();
  for (const OperatorScore& one : choice.scores)
    scores[NameOf(one.op)] = {{"score", one.score}, {"steps", one.steps}, {"possible", one.possible}};
  Json json = {{"operator", NameOf(choice.op)}, {"parents", choice.parents}, {"scores", scores}};
  if (!choice.left_out.empty()) json["left_out"] = choice.left_out;
  return json;
}

// Why the steps of a recording end here; empty while one is to come. A recording may lack numbers: a run that
// was stopped had chosen steps that came to nothing.
std::string WhyFollowingEnds(const std::vector<RecordedStep>& follow, int next,
                             const std::vector<DecisionRecord>& decisions) {
  if (next <= follow.back().number) return "";
  std::vector<std::string> left_out;
  for (const DecisionRecord& one : decisions)
    if (StepOf(one.key) > 0 && !GetString(ParsedOrEmpty(one.json), "left_out").empty())
      left_out.push_back(one.key);
  const std::string all = fmt::format("all {} steps of the recording were followed", follow.size());
  return left_out.empty() ? all
                          : fmt::format("of {} steps of the recording {} could not be followed: {}",
                                        follow.size(), left_out.size(), Join(left_out, ", "));
}

}  // namespace

Status Spine::Population() {
  HONE_RETURN_IF_ERROR(SayThatTheSearchBegins());
  // A model that plays a recording counts earlier requests. Finished steps are skipped below.
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
    std::string why;
    if (options_.follow.empty()) {
      why = WhySearchEnds(archive, options_);
    } else {
      HONE_ASSIGN_OR_RETURN(const std::vector<DecisionRecord> decisions,
                            recorder_.store().Decisions(recorder_.run().id));
      why = WhyFollowingEnds(options_.follow, first, decisions);
    }
    if (!why.empty()) return recorder_.Decide("search", "search", "the search ends: " + why);
    std::vector<std::pair<int, StepChoice>> open, group;
    for (int number = first; number < first + breadth; ++number) {
      if (!options_.follow.empty() && RecordedAs(number) == nullptr) continue;
      HONE_ASSIGN_OR_RETURN(StepChoice choice, DecideStep(archive, number));
      SearchStep pending;
      pending.number = number;
      pending.op = choice.op;
      pending.parents = choice.parents;
      archive.steps.push_back(pending);
      if (!ended(number) && choice.left_out.empty()) open.emplace_back(number, choice);
      group.emplace_back(number, std::move(choice));
    }
    HONE_RETURN_IF_ERROR(MakeSteps(open));
    for (const auto& [number, choice] : group)
      if (!ended(number)) HONE_RETURN_IF_ERROR(EndStep(number, choice));
  }
}

// Once, where a run without a search would have ended.
Status Spine::SayThatTheSearchBegins() {
  HONE_ASSIGN_OR_RETURN(const std::vector<DecisionRecord> decisions,
                        recorder_.store().Decisions(recorder_.run().id));
  const bool has_begun = std::any_of(decisions.begin(), decisions.end(),
                                     [](const DecisionRecord& one) { return StepOf(one.key) > 0; });
  if (!has_begun) recorder_.Say("the opening is over; " + HowSearchGoesOn(options_));
  return Ok();
}

const RecordedStep* Spine::RecordedAs(int number) const {
  for (const RecordedStep& step : options_.follow)
    if (step.number == number) return &step;
  return nullptr;
}

// The archive when step `before_step` is chosen; 0: all of it. Sorted by steps and keys, because parallel
// steps reach the store in any order.
Result<SearchArchive> Spine::ReadArchive(int before_step) {
  RunStore& store = recorder_.store();
  SearchArchive archive;
  HONE_ASSIGN_OR_RETURN(const std::vector<CandidateRecord> all, store.CandidateSummaries(recorder_.run().id));
  HONE_ASSIGN_OR_RETURN(const std::vector<DecisionRecord> decisions, store.Decisions(recorder_.run().id));
  const std::map<std::string, KernelProfile> profiles = ProfilesBefore(before_step, decisions);
  for (const CandidateRecord& one : all) {
    if (one.phase == "zero" || !one.judged()) continue;
    if (before_step > 0 && StepOf(one.key) >= before_step) continue;
    const std::scoped_lock lock(members_mutex_);
    // A member changes only when it is profiled. Reading all sources again at every step would take quadratic
    // time.
    const auto profile = profiles.find(one.key);
    const std::string name = one.key + (profile == profiles.end() ? "" : " profiled");
    auto known = members_.find(name);
    if (known == members_.end()) {
      HONE_ASSIGN_OR_RETURN(const std::optional<CandidateRecord> whole,
                            store.Candidate(recorder_.run().id, one.key));
      if (!whole) continue;
      known = members_
                  .emplace(name, MemberOf(*whole, options_, context_.card,
                                          profile == profiles.end() ? KernelProfile() : profile->second))
                  .first;
    }
    archive.members.push_back(known->second);
  }
  std::sort(archive.members.begin(), archive.members.end(),
            [](const ArchiveMember& a, const ArchiveMember& b) {
              return a.step != b.step ? a.step < b.step : a.key < b.key;
            });
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

// A recorded choice is final, whatever has entered the archive since.
Result<StepChoice> Spine::DecideStep(const SearchArchive& archive, int number) {
  HONE_ASSIGN_OR_RETURN(const std::optional<DecisionRecord> taken,
                        recorder_.store().Decision(recorder_.run().id, StepKey(number)));
  if (taken) {
    const Json json = ParsedOrEmpty(taken->json);
    const SearchStep step = StepFrom(number, json);
    return StepChoice{step.op, step.parents, {}, GetString(json, "left_out")};
  }
  const RecordedStep* recorded = RecordedAs(number);
  StepChoice choice =
      recorded != nullptr ? FollowStep(archive, options_, *recorded) : ChooseStep(archive, options_, number);
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
    for (const auto& [number, choice] : steps) HONE_RETURN_IF_ERROR(MakeStepAsRecorded(number, choice));
    return Ok();
  }
  std::vector<Status> ended(steps.size(), Ok());
  {
    std::vector<std::thread> makers;
    for (size_t i = 0; i < steps.size(); ++i)
      makers.emplace_back([this, i, &steps, &ended] {
        try {
          ended[i] = MakeStepAsRecorded(steps[i].first, steps[i].second);
        } catch (const std::exception& error) {
          ended[i] = Error{ErrorKind::kInternal, error.what()};
        }
      });
    for (std::thread& maker : makers) maker.join();
  }
  for (Status& status : ended) HONE_RETURN_IF_ERROR(std::move(status));
  return Ok();
}

// A step that follows a recording ends where the recorded one ended: at a call that the budget of that day
// did not allow, or that other verdicts make necessary here.
Status Spine::MakeStepAsRecorded(int number, const StepChoice& choice) {
  Status made = MakeStep(number, choice);
  if (options_.follow.empty() || made.ok() || made.error().kind != ErrorKind::kNotFound) return made;
  return recorder_.Decide(StepKey(number) + ".unrecorded", "search",
                          fmt::format("{} ends here: {}", StepKey(number), made.error().message));
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
// earlier group of steps, so that a step that is repeated after a kill finds the same.
Result<Json> Spine::StepProfile(Operator op, const CandidateRecord& parent, int number) {
  if (op == Operator::kImprove || !IsRight(parent)) return ProfileForPrompt(parent, number);
  HONE_ASSIGN_OR_RETURN(const SearchArchive archive, ReadArchive(FirstOfGroup(number)));
  const bool was_read =
      Uses(archive, parent.key, Operator::kImprove) + Uses(archive, parent.key, Operator::kTune) > 0;
  return was_read ? ProfileForPrompt(parent, number) : TimeFacts(parent);
}

// First searches numbers, if the candidate declares some that were not searched. Then runs one tuning stage
// at a time, for which a model restructures the candidate.
Status Spine::TuneStep(const std::string& key, const CandidateRecord& parent) {
  // A profile may be a reason not to tune. It is taken first, so that it holds for this step and not only for
  // later ones.
  HONE_ASSIGN_OR_RETURN(const KernelProfile profile, Profile(parent, StepOf(key)));
  HONE_ASSIGN_OR_RETURN(const std::string why_not, WhyNotTunedNow(parent));
  if (!why_not.empty())
    return recorder_.Decide(key, "tuning", fmt::format("no tuning of {}: {}", parent.key, why_not));
  HONE_ASSIGN_OR_RETURN(const SearchArchive archive, ReadArchive(StepOf(key)));
  const int before = Uses(archive, parent.key, Operator::kTune);
  const Result<std::vector<Tunable>> tunables = ReadTunables(parent.source);
  bool is_tuned = parent.phase == "tuned";
  if (parent.phase == kMendedPhase) {
    HONE_ASSIGN_OR_RETURN(const std::optional<CandidateRecord> failed,
                          recorder_.store().Candidate(recorder_.run().id, parent.parent_key));
    is_tuned = failed && failed->phase == "tuned";
  }
  const bool declares = tunables.ok() && !tunables->empty() && !is_tuned;
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
    if (made == nullptr || one.speed > made->speed) made = &one;
  }
  HONE_ASSIGN_OR_RETURN(std::vector<CallRecord> calls, store.CallSummaries(recorder_.run().id));
  // Parallel calls reach the store in any order, and a sum of dollars depends on the order.
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
  if (!choice.left_out.empty())
    text += "nothing was made";
  else if (made == nullptr)
    text += "no candidate came";
  else if (!made->right)
    text += made->key + " does not work";
  else
    text += fmt::format("{} is {:.2f}x{}", made->key, made->vs_best,
                        !made->settled             ? ", but the machine was too busy to be sure"
                        : best_after > best_before ? ", the best so far"
                                                   : "");
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

// The author's description: the recipe's title, or the text before the code.
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

// The latest designs of which nothing works, each with its author's description and how it ended.
Result<Json> Spine::FailedFacts(const SearchArchive& archive) {
  const std::vector<FailedDesign> designs = FailedDesigns(archive);
  std::vector<Json> rows;
  for (auto design = designs.rbegin(); design != designs.rend() && rows.size() < kMostDesigns; ++design) {
    RunStore& store = recorder_.store();
    HONE_ASSIGN_OR_RETURN(const std::optional<CandidateRecord> first,
                          store.Candidate(recorder_.run().id, design->first->key));
    HONE_ASSIGN_OR_RETURN(const std::optional<CandidateRecord> last,
                          store.Candidate(recorder_.run().id, design->last->key));
    if (!first || !last || first->reason == "no-code") continue;
    HONE_ASSIGN_OR_RETURN(const std::string what, DescriptionOf(*first));
    const std::string repairs = design->repairs == 0 ? ""
                                                     : fmt::format(" after {} repair{}", design->repairs,
                                                                   design->repairs == 1 ? "" : "s");
    rows.push_back({{"kind", design->first->kind}, {"result", ResultFacts(*last) + repairs}, {"what", what}});
  }
  return Json(std::vector<Json>(rows.rbegin(), rows.rend()));
}

// The description of the other candidates in a step's prompt (model/search_values.h). It comes from the
// archive from which the step was chosen, so that a step repeated after a kill makes the same request.
Result<Json> Spine::SearchFacts(const StepChoice& choice, int number) {
  HONE_ASSIGN_OR_RETURN(const SearchArchive archive, ReadArchive(FirstOfGroup(number)));
  const double floor_us = GetNumber(context_.card, "floor_us");
  const auto row = [&](const ArchiveMember& member) -> Result<Json> {
    HONE_ASSIGN_OR_RETURN(const std::optional<CandidateRecord> one,
                          recorder_.store().Candidate(recorder_.run().id, member.key));
    if (!one) return Json(nullptr);
    HONE_ASSIGN_OR_RETURN(const std::string what, DescriptionOf(*one));
    return Json({{"kind", member.kind}, {"result", ReachedFacts(*one, floor_us)}, {"what", what}});
  };
  Json others = Json::array();
  Json tried = Json::array();
  for (const ArchiveMember* one : Parents(archive)) {
    if (others.size() == (choice.op == Operator::kRestart ? kMostDesigns : kMostOthers)) break;
    if (std::find(choice.parents.begin(), choice.parents.end(), one->key) != choice.parents.end()) continue;
    HONE_ASSIGN_OR_RETURN(Json other, row(*one));
    others.push_back(std::move(other));
  }
  Json facts = {{"others", others}};
  if (floor_us > 0) facts["floor"] = HumanSeconds(floor_us * 1e-6);
  if (choice.op == Operator::kRestart) {
    HONE_ASSIGN_OR_RETURN(facts["failed"], FailedFacts(archive));
  }
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

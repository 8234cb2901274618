// Staged tuning: grid, block, memory. A model restructures the candidate and declares tunable numbers. Hone
// finds the numbers by search, not by asking. Kernels of unsuitable class or complexity are left alone.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/ids.h"
#include "base/text.h"
#include "model/tunables.h"
#include "pipeline/spine.h"

namespace hone {

namespace {

constexpr int kFinalists = 2;

using Config = std::map<std::string, Json>;

std::string Name(const Config& config) {
  std::string name;
  for (const auto& [key, value] : config)
    name += fmt::format("{}{}={}", name.empty() ? "" : " ", key, DumpJson(value));
  return name;
}

// Random configurations without duplicates, the declared one first; all of them if there are few.
std::vector<Config> Draw(const std::vector<Tunable>& tunables, size_t most, uint64_t seed) {
  double total = 1;
  for (const Tunable& tunable : tunables) total *= static_cast<double>(tunable.values.size());
  const size_t wanted = static_cast<size_t>(std::min(total, static_cast<double>(most)));
  std::vector<Config> configs;
  std::set<std::string> seen;
  auto add = [&](Config config) {
    if (seen.insert(Name(config)).second) configs.push_back(std::move(config));
  };
  Config declared;
  for (const Tunable& tunable : tunables)
    declared[tunable.name] =
        std::find(tunable.values.begin(), tunable.values.end(), tunable.current) != tunable.values.end()
            ? tunable.current
            : tunable.values.front();
  add(declared);
  Random random(seed);
  for (size_t tries = 0; configs.size() < wanted && tries < 64 * wanted; ++tries) {
    Config config;
    for (const Tunable& tunable : tunables)
      config[tunable.name] = tunable.values[random.Below(tunable.values.size())];
    add(std::move(config));
  }
  return configs;
}

}  // namespace

Result<std::string> Spine::WhyNotTunedNow(const CandidateRecord& best) {
  HONE_ASSIGN_OR_RETURN(const std::vector<DecisionRecord> decisions,
                        recorder_.store().Decisions(recorder_.run().id));
  return WhyNotTuned(best, options_, context_.card, decisions);
}

Status Spine::Tuning() {
  HONE_ASSIGN_OR_RETURN(std::optional<CandidateRecord> best, BestBeforeTuning());
  if (!best) return recorder_.Decide("tuning", "tuning", "no tuning: no candidate is right");
  HONE_ASSIGN_OR_RETURN(std::string why_not, WhyNotTunedNow(*best));
  if (why_not.empty()) {
    HONE_RETURN_IF_ERROR(Profile(*best));  // its result is recorded, and may be a reason
    HONE_ASSIGN_OR_RETURN(why_not, WhyNotTunedNow(*best));
  }
  if (!why_not.empty())
    return recorder_.Decide("tuning", "tuning", fmt::format("no tuning of {}: {}", best->key, why_not));
  HONE_RETURN_IF_ERROR(
      recorder_.Decide("tuning", "tuning",
                       fmt::format("tuning {} ({}, {:.2f}x)", best->key, best->kernel_class, best->vs_best)));
  for (const char* stage : kTuningStages) HONE_RETURN_IF_ERROR(Stage(stage, &*best));
  return Ok();
}

Status Spine::Stage(const std::string& stage, CandidateRecord* best) {
  const std::string call_type = "stage_" + stage;
  const std::string key = kTuningKeys + stage;
  const Result<Json> findings = ParseJson(best->findings);
  PromptInputs inputs = Inputs(call_type);
  inputs.candidate_source = best->source;
  inputs.findings = findings.ok() ? *findings : Json::array();
  HONE_ASSIGN_OR_RETURN(inputs.profile, ProfileForPrompt(*best));
  inputs.verdict = {{"verdict", best->verdict},
                    {"reason", best->reason},
                    {"vs_best", best->vs_best},
                    {"candidate_us", best->candidate_us}};
  HONE_ASSIGN_OR_RETURN(const std::optional<CandidateRecord> made,
                        ProposeAndRepair(key, best->key, call_type, "stage_repair", inputs, std::nullopt));
  if (!made) return Ok();
  CandidateRecord winner = *made;
  if (IsRight(winner)) {
    HONE_ASSIGN_OR_RETURN(const std::optional<CandidateRecord> found, Search(winner, key));
    if (found && found->vs_best > winner.vs_best) winner = *found;
  }
  const bool better = StageIsBetter(winner, *best);
  HONE_RETURN_IF_ERROR(recorder_.Decide(
      key, "tuning",
      better ? fmt::format("stage {}: {} is the best so far, {:.2f}x", stage, winner.key, winner.vs_best)
             : fmt::format("stage {}: dropped, {} ({}) does not beat {} ({:.2f}x)", stage, winner.key,
                           IsRight(winner) ? fmt::format("{:.2f}x", winner.vs_best) : winner.reason,
                           best->key, best->vs_best)));
  if (better) *best = winner;
  return Ok();
}

// Screens random configurations, then the better half again until few are left, which are judged.
Result<std::optional<CandidateRecord>> Spine::Search(const CandidateRecord& base, const std::string& key) {
  const Result<std::vector<Tunable>> tunables = ReadTunables(base.source);
  if (!tunables.ok()) {
    HONE_RETURN_IF_ERROR(recorder_.Decide(key + ".tunables", "tuning",
                                          fmt::format("{}: {}", base.key, tunables.error().message)));
    return std::optional<CandidateRecord>();
  }
  if (tunables->empty()) return std::optional<CandidateRecord>();
  struct Entrant {
    std::string name;
    std::string source;
    double call_us = 0;
  };
  std::vector<Entrant> field;
  for (const Config& config :
       Draw(*tunables, static_cast<size_t>(std::max(1, options_.tune_trials)), options_.search_seed)) {
    HONE_ASSIGN_OR_RETURN(std::string source, ApplyTunables(base.source, config));
    field.push_back(Entrant{Name(config), std::move(source), 0});
  }
  for (int round = 0; field.size() > kFinalists || round == 0; ++round) {
    std::vector<Entrant> alive;
    for (Entrant& entrant : field) {
      HONE_ASSIGN_OR_RETURN(const QuickLook look,
                            Look(fmt::format("{}.r{}.{}", key, round, entrant.name), entrant.source));
      if (!look.right) continue;
      entrant.call_us = round == 0 ? look.call_us : std::min(entrant.call_us, look.call_us);
      alive.push_back(entrant);
    }
    std::stable_sort(alive.begin(), alive.end(),
                     [](const Entrant& a, const Entrant& b) { return a.call_us < b.call_us; });
    if (alive.size() > kFinalists) alive.resize(std::max<size_t>(kFinalists, alive.size() / 2));
    field = std::move(alive);
    if (field.empty()) return std::optional<CandidateRecord>();
  }
  // Versions that did not mend finalists continued with the next one, or ended the stage. A resumed run then
  // mends none either.
  RunStore& store = recorder_.store();
  const auto finalist_key = [&](size_t i) { return fmt::format("{}.tuned{}", key, i + 1); };
  HONE_ASSIGN_OR_RETURN(const std::optional<DecisionRecord> stage_ended,
                        store.Decision(recorder_.run().id, key));
  size_t last_made = 0;
  for (size_t i = 0; i < field.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(const std::optional<CandidateRecord> made,
                          store.Candidate(recorder_.run().id, finalist_key(i)));
    if (made) last_made = i;
  }
  std::optional<CandidateRecord> best;
  for (size_t i = 0; i < field.size(); ++i) {
    if (field[i].source == base.source) continue;  // already judged
    const std::string candidate_key = finalist_key(i);
    HONE_ASSIGN_OR_RETURN(const std::optional<CandidateRecord> kept,
                          store.Candidate(recorder_.run().id, candidate_key));
    CandidateRecord candidate =
        kept ? *kept : MakeCandidate(candidate_key, base.key, "tuned", field[i].source);
    if (!kept) {
      candidate.title = field[i].name;
      HONE_RETURN_IF_ERROR(recorder_.Keep(candidate));
    }
    HONE_ASSIGN_OR_RETURN(candidate, Judge(candidate));
    // Its base works, but other numbers may need what the base did not, a mask for example.
    HONE_ASSIGN_OR_RETURN(candidate, MendMechanically(candidate, stage_ended || i < last_made));
    if (IsRight(candidate) && (!best || candidate.vs_best > best->vs_best)) best = candidate;
  }
  return best;
}

}  // namespace hone

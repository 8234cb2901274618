// The steps of one seed: request, judge, and repair with the history of attempts. If the seed failed or is
// slower, an analysis follows, and then a candidate from that analysis, which is judged and repaired in turn.
#include <fmt/format.h>

#include "base/text.h"
#include "codegen/device_costs.h"
#include "pipeline/prompt_facts.h"
#include "pipeline/spine.h"

namespace hone {

Result<std::optional<CandidateRecord>> Spine::ProposeAndRepair(
    const std::string& key, const std::string& parent, const std::string& call_type,
    const std::string& repair_type, PromptInputs inputs, const std::optional<AnalysisRecord>& asked) {
  inputs.call_type = call_type;
  HONE_ASSIGN_OR_RETURN(std::optional<CandidateRecord> made, ProposeAndJudge(key, parent, inputs));
  if (!made) return made;
  CandidateRecord current = *made;
  CandidateRecord best = current;
  Json history = Json::array();
  for (int repair = 1; repair <= options_.repairs; ++repair) {
    const std::string mismatch = asked && options_.class_check && !current.accepted()
                                     ? NotWhatWasAsked(*asked, current, context_.card)
                                     : "";
    if (!IsBroken(current) && mismatch.empty()) break;
    history.push_back(AttemptFacts(repair, current));
    inputs.call_type = repair_type;
    inputs.candidate_source = current.source;
    inputs.findings = ParsedOrEmpty(current.findings);
    inputs.verdict = VerdictFacts(current);
    inputs.profile = TimeFacts(current);
    inputs.history = history;
    inputs.first_message = mismatch;
    HONE_ASSIGN_OR_RETURN(made,
                          ProposeAndJudge(fmt::format("{}.repair{}", key, repair), current.key, inputs));
    if (!made) break;
    current = *made;
    if (IsRight(current) && (!IsRight(best) || current.vs_best > best.vs_best)) best = current;
  }
  return std::optional<CandidateRecord>(IsRight(best) ? best : current);
}

Result<std::optional<AnalysisRecord>> Spine::Analyse(const CandidateRecord& candidate) {
  PromptInputs inputs = Inputs("analysis");
  inputs.candidate_source = candidate.source;
  inputs.findings = ParsedOrEmpty(candidate.findings);
  inputs.verdict = VerdictFacts(candidate);
  HONE_ASSIGN_OR_RETURN(inputs.profile, ProfileForPrompt(candidate));
  HONE_ASSIGN_OR_RETURN(const DeviceCosts costs, LoadDeviceCosts());
  const Json facts = {
      {"card", context_.card}, {"verdict", inputs.verdict}, {"generous_step_us", costs.gpu.generous_step_us}};
  std::string key = candidate.key + ".analysis";
  std::optional<AnalysisRecord> record;
  for (const bool again : {false, true}) {
    HONE_ASSIGN_OR_RETURN(const ModelReply reply, Ask(again ? key + ".again" : key, inputs));
    if (!reply.ok()) break;
    Result<AnalysisRecord> parsed = ParseAnalysis(reply.text);
    const std::optional<std::string> objection =
        parsed.ok() ? CheckAgainstFacts(*parsed, facts) : std::optional<std::string>(parsed.error().message);
    if (parsed.ok()) record = *parsed;
    if (!objection) break;
    HONE_RETURN_IF_ERROR(
        recorder_.Decide(key + (again ? ".kept" : ".sent_back"), "analysis",
                         fmt::format("{}: the analysis {}: {}", candidate.key,
                                     again ? "stays as it is" : "goes back once", *objection)));
    inputs.first_message = *objection;
  }
  if (!record) {
    HONE_RETURN_IF_ERROR(recorder_.Decide(key, "analysis", candidate.key + ": no usable analysis"));
    return std::optional<AnalysisRecord>();
  }
  HONE_RETURN_IF_ERROR(recorder_.Decide(
      key, "analysis",
      record->worth_optimizing ? fmt::format("{}: {}", candidate.key, record->optimisation_method)
                               : fmt::format("{}: not worth optimising: {}", candidate.key, record->reason),
      ToJson(*record)));
  return record;
}

Status Spine::Branch(int seed) {
  const std::string key = fmt::format("seed{}", seed);
  PromptInputs inputs = Inputs("seed");
  inputs.seed_index = seed;
  HONE_ASSIGN_OR_RETURN(const std::optional<CandidateRecord> best,
                        ProposeAndRepair(key, "", "seed", "seed_repair", inputs, std::nullopt));
  if (!best) return Ok();
  if (!FailedOrLost(*best) || !options_.analysis) return Ok();
  HONE_ASSIGN_OR_RETURN(const std::optional<AnalysisRecord> analysis, Analyse(*best));
  if (!analysis || !analysis->worth_optimizing) return Ok();
  inputs = Inputs("algorithm");
  inputs.seed_index = seed;
  inputs.candidate_source = best->source;
  inputs.findings = ParsedOrEmpty(best->findings);
  inputs.verdict = VerdictFacts(*best);
  HONE_ASSIGN_OR_RETURN(inputs.profile, ProfileForPrompt(*best));
  inputs.analysis = ToJson(*analysis);
  HONE_RETURN_IF_ERROR(
      ProposeAndRepair(key + ".algorithm", best->key, "algorithm", "algorithm_repair", inputs, analysis));
  return Ok();
}

}  // namespace hone

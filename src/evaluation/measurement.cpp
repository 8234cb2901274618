#include "evaluation/measurement.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace hone {

namespace {

constexpr size_t kMostKernels = 12;
constexpr size_t kLongestName = 120;

Json ToJson(const std::vector<ProfiledKernel>& kernels) {
  Json rows = Json::array();
  for (const ProfiledKernel& one : kernels) {
    Json row = {{"name", one.name}, {"count", one.count}};
    if (one.time_us >= 0) row["time_us"] = one.time_us;
    rows.push_back(std::move(row));
  }
  return rows;
}

Json ToJson(const WorkerFailure& failure) {
  static const char* const kNames[] = {"exception", "unreadable", "exited",    "signalled",
                                       "timeout",   "memory",     "processes", "protocol"};
  return {{"kind", kNames[static_cast<int>(failure.kind)]},
          {"type", failure.type},
          {"message", failure.message},
          {"detail", failure.detail}};
}

Json ToJson(const Trial& trial) {
  Json leaves = Json::array();
  for (const LeafTrial& leaf : trial.leaves)
    leaves.push_back({{"path", leaf.path},
                      {"distance", hone::ToJson(leaf.distance)},
                      {"limit", leaf.limit.relative},
                      {"worst_limit", leaf.limit.worst},
                      {"scaled_limit", leaf.limit.scaled},
                      {"far", leaf.far},
                      {"by_distribution", leaf.by_distribution}});
  return {{"case", trial.case_id},
          {"shape_problem", trial.shape_problem},
          {"dtype_problem", trial.dtype_problem},
          {"value_problem", trial.value_problem},
          {"stale_of", trial.stale_of},
          {"input_modified", trial.input_modified},
          {"outputs", leaves}};
}

Json ToJson(const Timing& timing) {
  Json contestants = Json::array();
  for (const Contestant& one : timing.contestants) {
    Json rounds = Json::array();
    for (const Round& round : one.rounds)
      rounds.push_back({{"pair", round.pair},
                        {"calls", {round.short_count, round.long_count}},
                        {"seconds", {round.empty_s, round.short_s, round.long_s}},
                        {"clear_s", round.clear_s}});
    contestants.push_back({{"name", one.name},
                           {"median_us", timing.MedianUs(one)},
                           {"cold_us", one.cold_us},
                           {"latency_us", timing.LatencyUs(one)},
                           {"round_us", timing.CallUs(one)},
                           {"rounds", rounds}});
  }
  Json collecting = Json::array();
  for (int pair = 0; pair < timing.pairs; ++pair) collecting.push_back(timing.CollectUs(pair));
  Json left_out = Json::array();
  for (const LeftOut& one : timing.left_out) left_out.push_back({{"name", one.name}, {"why", one.why}});
  return {{"contestants", contestants},
          {"left_out", left_out},
          {"screened", timing.screened},
          {"collect_us", collecting},
          {"pairs", timing.pairs},
          {"void_rounds", timing.void_rounds},
          {"eager_alone_us", timing.eager_alone_us},
          {"eager_after_us", timing.eager_after_us},
          {"answers_checked", timing.answers_checked},
          {"answers_wrong", timing.answers_wrong},
          {"worst_answer", timing.worst_answer},
          {"inputs_changed", timing.inputs_changed},
          {"buffer_reused", timing.buffer_reused},
          {"input_sets", timing.input_sets},
          {"memory", timing.memory},
          {"seconds", timing.seconds}};
}

}  // namespace

const char* ContractStateName(ContractState state) {
  switch (state) {
    case ContractState::kHolds:
      return "holds";
    case ContractState::kBroken:
      return "broken";
    case ContractState::kNotApplicable:
      break;
  }
  return "not_applicable";
}

Json ToJson(const Distance& distance) {
  return {{"relative", distance.relative},     {"worst", distance.worst},
          {"non_finite", distance.non_finite}, {"unwritten", distance.poisoned},
          {"elements", distance.elements},     {"worst_at", distance.worst_at},
          {"scaled", distance.scaled},         {"scaled_at", distance.scaled_at}};
}

std::vector<ProfiledKernel> ProfiledKernelsFrom(const Json& rows) {
  std::vector<ProfiledKernel> kernels;
  if (!rows.is_array()) return kernels;
  for (const Json& row : rows) {
    ProfiledKernel one;
    one.name = SafeForTerminal(GetString(row, "name").substr(0, kLongestName));
    std::replace_if(
        one.name.begin(), one.name.end(), [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
    one.count = std::max<int64_t>(0, GetInt(row, "count"));
    const double time_us = GetNumber(row, "time_us", -1);
    if (std::isfinite(time_us) && time_us >= 0) one.time_us = time_us;
    if (!one.name.empty()) kernels.push_back(std::move(one));
    if (kernels.size() == kMostKernels) break;
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const ProfiledKernel& a, const ProfiledKernel& b) { return a.time_us > b.time_us; });
  return kernels;
}

Json PhaseSeconds(const Measurement& m) {
  Json json = Json::object();
  for (const auto& [phase, seconds] : m.phases) json[StepNameOf(phase)] = seconds;
  return json;
}

Json ToJson(const Measurement& m) {
  Json json;
  json["stop"] =
      m.stop ? Json{{"phase", NameOf(m.stop->phase)}, {"failure", ToJson(m.stop->failure)}} : Json();
  json["weights"] = {
      {"how", m.weights_how}, {"missing", m.weights_missing}, {"unexpected", m.weights_unexpected}};
  json["trials"] = Json::array();
  for (const Trial& trial : m.trials) json["trials"].push_back(ToJson(trial));
  if (m.draws)
    json["draws"] = {{"cases", m.draws->cases},
                     {"draws", m.draws->draws},
                     {"statistics", m.draws->statistics},
                     {"wrong", m.draws->wrong}};
  if (m.repeats)
    json["repeats"] = {{"count", m.repeats->count},
                       {"busy", m.repeats->busy},
                       {"distinct", m.repeats->distinct},
                       {"spread", m.repeats->spread},
                       {"spread_limit", m.repeats->spread_limit}};
  if (m.profile)
    json["profile"] = {{"launches", m.profile->launches},
                       {"own_us", m.profile->own_us},
                       {"library_us", m.profile->library_us},
                       {"kernels", ToJson(m.profile->kernels)}};
  if (m.timing) json["timing"] = ToJson(*m.timing);
  json["tampering"] = m.tampering;
  json["attempts"] = m.attempts;
  json["notes"] = m.notes;
  json["phases"] = PhaseSeconds(m);
  json["seconds"] = m.seconds;
  json["reference_seconds"] = m.reference_seconds;
  json["candidate_seconds"] = m.candidate_seconds;
  json["stdout"] = m.stdout_tail;
  return json;
}

}  // namespace hone

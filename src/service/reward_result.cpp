#include "service/reward_result.h"

#include <algorithm>
#include <set>

#include "verdict/reasons.h"

namespace hone {

namespace {

// Gates that check answers. A candidate that reaches them has run.
constexpr const char* kAnswerGates[] = {"shape", "dtype", "written", "finite", "fresh", "inputs", "correct"};

struct Stages {
  Json builds;
  Json runs;
  Json correct;
  Json trials_right;
  Json trials;  // number of planned trials
};

Stages StagesOf(const Json& record) {
  const Json& gates = GetMember(record, "gates");
  const auto gate = [&](const char* name) { return GetString(gates, name); };
  bool answered = false;
  bool answer_failed = false;
  for (const char* name : kAnswerGates) {
    answered = answered || gate(name) == "pass" || gate(name) == "fail";
    answer_failed = answer_failed || gate(name) == "fail";
  }
  Stages stages;
  if (gate("build") == "fail")
    stages.builds = false;
  else if (gate("build") == "pass" || answered || gate("runs") == "fail")
    stages.builds = true;
  if (gate("build") == "fail" || gate("runs") == "fail")
    stages.runs = false;
  else if (answered)
    stages.runs = true;

  const std::string verdict = GetString(record, "verdict");
  const std::string reason = GetString(record, "reason");
  if (verdict == NameOf(Decision::kRejected))
    stages.correct = reason == NameOf(Reason::kSlower);
  else if (verdict != NameOf(Decision::kCannotJudge))
    stages.correct = true;

  // The first case is tried twice (evaluation/trial_plan.h).
  const size_t cases = GetMember(GetMember(record, "provenance"), "seeds").size();
  if (cases > 0) stages.trials = cases + 1;
  const Json& trials = GetMember(GetMember(record, "measurement"), "trials");
  if (answered && !answer_failed && stages.runs == Json(true)) {
    stages.trials_right = 1.0;
  } else if (stages.builds == Json(false)) {
    stages.trials_right = 0.0;
  } else if (trials.is_array() && cases > 0) {
    // Trials end at the first wrong one.
    const size_t right = trials.size() - (answer_failed && !trials.empty() ? 1 : 0);
    stages.trials_right = std::min(1.0, static_cast<double>(right) / static_cast<double>(cases + 1));
  }
  return stages;
}

const char* StageName(const Stages& stages, const std::string& verdict) {
  if (verdict == NameOf(Decision::kAccepted)) return "faster";
  if (stages.correct == Json(true)) return "correct";
  if (stages.runs == Json(true)) return "runs";
  if (stages.builds == Json(true)) return "builds";
  return "code";
}

}  // namespace

bool IsCheat(const std::string& reason) {
  static const std::set<std::string> kCheats = {NameOf(Reason::kEscaped), NameOf(Reason::kTimerTampering),
                                                NameOf(Reason::kStaleResult), NameOf(Reason::kUnsynchronised),
                                                NameOf(Reason::kTooFast)};
  return kCheats.count(reason) != 0;
}

Json RewardResult(const Json& record) {
  const Stages stages = StagesOf(record);
  const std::string verdict = GetString(record, "verdict");
  const std::string reason = GetString(record, "reason");
  Json result = {{"has_code", true},
                 {"stage", StageName(stages, verdict)},
                 {"builds", stages.builds},
                 {"runs", stages.runs},
                 {"correct", stages.correct},
                 {"trials", stages.trials},
                 {"trials_right", stages.trials_right},
                 {"error_over_limit", nullptr},
                 {"vs_eager", nullptr},
                 {"vs_best", nullptr},
                 {"ci95", nullptr},
                 {"best_baseline", nullptr},
                 {"verdict", verdict},
                 {"reason", reason},
                 {"detail", GetString(record, "detail")},
                 {"cheat", IsCheat(reason)}};
  const Json& error = GetMember(record, "error");
  const double limit = GetNumber(error, "limit");
  if (stages.runs == Json(true) && limit > 0)
    result["error_over_limit"] = GetNumber(error, "candidate") / limit;
  const Json& speed = GetMember(record, "speedup");
  for (const char* name : {"vs_eager", "vs_best", "ci95", "best_baseline"})
    if (speed.is_object() && speed.contains(name)) result[name] = GetMember(speed, name);
  return result;
}

Json RewardWithoutCode() {
  return {{"has_code", false},
          {"stage", "none"},
          {"builds", nullptr},
          {"runs", nullptr},
          {"correct", nullptr},
          {"trials", nullptr},
          {"trials_right", nullptr},
          {"error_over_limit", nullptr},
          {"vs_eager", nullptr},
          {"vs_best", nullptr},
          {"ci95", nullptr},
          {"best_baseline", nullptr},
          {"verdict", nullptr},
          {"reason", "no-code"},
          {"detail", "no block of the reply defines or mentions ModelNew"},
          {"cheat", false}};
}

Json VerdictForClient(Json record) {
  if (!record.is_object()) return record;
  if (record.contains("measurement")) record.erase("measurement");
  if (record.contains("provenance") && record["provenance"].is_object() &&
      record["provenance"].contains("seeds"))
    record["provenance"].erase("seeds");
  return record;
}

}  // namespace hone

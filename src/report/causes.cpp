#include "report/causes.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "pipeline/rules.h"
#include "report/record_facts.h"

namespace hone {

namespace {

// With this many times PyTorch's launches, launches dominate the time.
constexpr double kManyMore = 1.5;
constexpr int64_t kFewLaunches = 4;
constexpr size_t kMostFindings = 3;

// Rules about speed, which do not explain a wrong answer; the other rules do not explain a slow one.
bool IsAboutSpeed(const std::string& rule) {
  static const std::set<std::string> kRules = {
      "allocation-in-loop",   "autotune-many-configs", "grid-misses-parallelism",
      "host-sync-in-forward", "library-fallback",      "scalar-vector-matmul",
      "tf32-by-default",      "time-loop-on-host",     "uncoalesced-access",
  };
  return kRules.count(rule) != 0;
}

Cause& Named(std::vector<Cause>* causes, const std::string& id, const std::string& reason) {
  for (Cause& cause : *causes)
    if (cause.id == id) return cause;
  Cause cause;
  cause.id = id;
  cause.reason = reason;
  causes->push_back(cause);
  return causes->back();
}

void AddFindings(const CandidateRecord& candidate, Cause* cause) {
  std::vector<std::string> counted;
  for (const Json& one : ParsedOrNull(candidate.findings)) {
    const std::string severity = GetString(one, "severity");
    const std::string rule = GetString(one, "rule");
    if (IsAboutSpeed(rule) != IsRight(candidate) && severity != "error") continue;
    if (severity == "note" || std::find(counted.begin(), counted.end(), rule) != counted.end()) continue;
    counted.push_back(rule);
    auto known = std::find_if(cause->findings.begin(), cause->findings.end(),
                              [&](const CauseFinding& finding) { return finding.rule == rule; });
    if (known == cause->findings.end()) {
      cause->findings.push_back(
          {rule, severity, GetString(one, "message"), GetInt(one, "line"), candidate.key, 0});
      known = cause->findings.end() - 1;
    }
    ++known->candidates;
  }
}

void AddCandidate(const CandidateRecord& candidate, int64_t serial_chain, Cause* cause) {
  const CandidateFacts facts = FactsOf(candidate);
  if (cause->keys.empty()) {
    cause->example = TellingLine(candidate.detail);
    cause->operators = facts.operators;
    cause->launches = facts.launches;
    cause->least_launches = facts.reference_launches;
    if (cause->id == "launch_per_step") {
      // Operators say nothing about kernels, but the task's steps do.
      if (facts.launches < 0 || facts.operators) cause->launches = serial_chain > 0 ? serial_chain : -1;
      cause->least_launches = 1;
      cause->operators = false;
    }
  }
  cause->keys.push_back(candidate.key);
  if (candidate.error > cause->error) {
    cause->error = candidate.error;
    cause->error_limit = candidate.error_limit;
  }
  if (candidate.vs_best > cause->best_vs) {
    cause->best_vs = candidate.vs_best;
    cause->floor_share = facts.floor_share;
  }
  AddFindings(candidate, cause);
}

// Calls without a usable reply.
void AddFailedCalls(const RunStory& story, std::vector<Cause>* causes) {
  for (const CallRecord& call : story.calls) {
    if (call.status == "answered") continue;
    Cause& cause = Named(causes, "no_answer", call.status);
    if (cause.keys.empty()) cause.example = TellingLine(call.error);
    cause.keys.push_back(call.key);
    cause.total = static_cast<int>(story.calls.size());
  }
}

// The expert's proposals that failed their screening run.
void AddLeftOut(const RunStory& story, int proposals, std::vector<Cause>* causes) {
  for (const DecisionRecord& decision : story.decisions) {
    constexpr std::string_view kLook = "look:";
    if (!StartsWith(decision.key, kLook) || StartsWith(decision.key, std::string(kLook) + kTuningKeys))
      continue;
    const Json look = ParsedOrNull(decision.json);
    if (GetBool(look, "right", true)) continue;
    Cause& cause = Named(causes, "left_out", "first-look");
    if (cause.keys.empty()) cause.example = TellingLine(GetString(look, "why"));
    cause.keys.push_back(decision.key.substr(kLook.size()));
    cause.total = proposals;
  }
}

}  // namespace

std::string CauseOf(const CandidateRecord& candidate) {
  const bool about_speed = candidate.reason == "slower" || candidate.reason == "no-difference";
  if (!about_speed) return candidate.reason == "no-code" ? "no_code" : candidate.reason;
  const CandidateFacts facts = FactsOf(candidate);
  if (candidate.kernel_class == "launch_per_step") return "launch_per_step";
  if (facts.launches > kFewLaunches && facts.reference_launches > 0 &&
      static_cast<double>(facts.launches) > kManyMore * static_cast<double>(facts.reference_launches))
    return "many_launches";
  if (facts.library_loops > 0) return "loop_on_host";
  if (facts.floor_share >= kAtTheFloor) return "near_floor";
  return candidate.reason == "slower" ? "slower" : "no_difference";
}

std::vector<Cause> FindCauses(const RunStory& story) {
  const int64_t serial_chain = GetInt(GetMember(ParsedOrNull(story.run.card), "card"), "serial_chain");
  std::vector<Cause> causes;
  int judged = 0;
  int proposals = 0;
  for (const CandidateRecord& one : story.candidates) {
    if (one.phase == "zero") continue;
    ++proposals;
    if (!one.judged()) continue;
    ++judged;
    if (!one.accepted()) AddCandidate(one, serial_chain, &Named(&causes, CauseOf(one), one.reason));
  }
  for (Cause& cause : causes) cause.total = judged;
  AddLeftOut(story, proposals, &causes);
  AddFailedCalls(story, &causes);
  for (Cause& cause : causes) {
    std::stable_sort(cause.findings.begin(), cause.findings.end(),
                     [](const CauseFinding& a, const CauseFinding& b) {
                       if ((a.severity == "error") != (b.severity == "error")) return a.severity == "error";
                       return a.candidates > b.candidates;
                     });
    if (cause.findings.size() > kMostFindings) cause.findings.resize(kMostFindings);
  }
  std::stable_sort(causes.begin(), causes.end(),
                   [](const Cause& a, const Cause& b) { return a.keys.size() > b.keys.size(); });
  return causes;
}

}  // namespace hone

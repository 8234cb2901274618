#include "pipeline/mending.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "pipeline/spine.h"

namespace hone {

namespace {

// The last of the judge's steps that a candidate reached, in their order.
int HowFarItCame(const CandidateRecord& candidate) {
  if (IsRight(candidate)) return 5;
  static const std::map<std::string, int> kSteps = {
      {"no-code", 0}, {"build-failed", 1}, {"import-failed", 1}, {"weights-not-transferred", 2},
      {"crashed", 3}, {"timeout", 3},      {"out-of-memory", 3}};
  const auto step = kSteps.find(candidate.reason);
  return step == kSteps.end() ? 4 : step->second;
}

}  // namespace

MendedSource MendCandidate(const CandidateRecord& failed, const std::string& task_source, const Json& facts) {
  return MendSource("candidate.py", failed.source, LintOptionsOn(facts, task_source));
}

std::string FixesSentence(const std::vector<AppliedFix>& fixes) {
  std::vector<std::string> parts;
  for (const AppliedFix& fix : fixes) parts.push_back(fmt::format("{} at line {}", fix.rule, fix.line));
  return fmt::format("{} mechanical fix{}: {}", fixes.size(), fixes.size() == 1 ? "" : "es",
                     Join(parts, ", "));
}

bool GotAsFar(const CandidateRecord& mended, const CandidateRecord& failed) {
  return HowFarItCame(mended) >= HowFarItCame(failed);
}

// True if an earlier session found nothing to fix and asked a model. It may have been a version with fewer
// fixes, but its requests and replies remain valid.
Result<bool> Spine::WentOnFrom(const CandidateRecord& failed) {
  HONE_ASSIGN_OR_RETURN(const std::vector<CandidateRecord> all,
                        recorder_.store().CandidateSummaries(recorder_.run().id));
  return std::any_of(all.begin(), all.end(), [&](const CandidateRecord& one) {
    return one.parent_key == failed.key || one.other_parent_key == failed.key;
  });
}

Result<CandidateRecord> Spine::MendMechanically(const CandidateRecord& failed, bool was_left) {
  if (!options_.mend || !IsBroken(failed) || failed.reason == "no-code" || failed.phase == kMendedPhase)
    return failed;
  const std::string key = failed.key + kMendedKey;
  HONE_ASSIGN_OR_RETURN(std::optional<CandidateRecord> made,
                        recorder_.store().Candidate(recorder_.run().id, key));
  if (!made) {
    HONE_ASSIGN_OR_RETURN(const bool went_on, WentOnFrom(failed));
    if (was_left || went_on) return failed;
    const MendedSource mended = judge_.Mend(failed, task_.source, context_.facts);
    if (!mended.changed()) return failed;
    HONE_RETURN_IF_ERROR(recorder_.Decide(key, kMendedPhase,
                                          fmt::format("{}: {}", failed.key, FixesSentence(mended.fixes)),
                                          Json(ToJson(mended.fixes))));
    made = MakeCandidate(key, failed.key, kMendedPhase, mended.text);
    HONE_RETURN_IF_ERROR(recorder_.Keep(*made));
  }
  HONE_ASSIGN_OR_RETURN(const CandidateRecord judged, Judge(*made));
  return GotAsFar(judged, failed) ? judged : failed;
}

}  // namespace hone

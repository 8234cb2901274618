// The profile of a candidate, taken once and stored under its key. Prompts use it, and tuning may skip a
// kernel because of it. Only on a GPU. If the profiler does not work, the record has the reason and the run
// continues.
#include <fmt/format.h>

#include "base/text.h"
#include "pipeline/prompt_facts.h"
#include "pipeline/rules.h"
#include "pipeline/spine.h"

namespace hone {

Result<KernelProfile> Spine::Profile(const CandidateRecord& candidate, int step) {
  if (GetString(context_.machine, "device") != "cuda") return KernelProfile{"there is no GPU", {}};
  const std::string key = kProfileKeys + candidate.key;
  HONE_ASSIGN_OR_RETURN(const std::optional<DecisionRecord> kept,
                        recorder_.store().Decision(recorder_.run().id, key));
  if (kept) {
    const Result<Json> json = ParseJson(kept->json);
    if (json.ok()) return KernelProfileFromJson(*json);
  }
  HONE_RETURN_IF_ERROR(MayGoOn());
  const CandidateFile file{recorder_.folder() / "code" / (FileNameOf(candidate.key) + ".py"),
                           FileNameOf(candidate.key), candidate.source, candidate.sha256};
  recorder_.Doing(candidate.key, "profile");
  const Result<KernelProfile> profile = Answer(judge_.Profile(file));
  recorder_.Doing(candidate.key, "");
  HONE_RETURN_IF_ERROR(profile);
  std::string text = "no profile: " + profile->why_not;
  if (!profile->kernels.empty()) {
    const KernelMetrics& main = profile->kernels.front();
    text = fmt::format(
        "{} takes {:.0f}% of the kernels' time: SMs {:.0f}% busy, memory {:.0f}%, occupancy {:.0f}%, L2 hits "
        "{:.0f}%",
        SafeForTerminal(main.kernel).substr(0, 60), 100 * main.share, main.sm_percent, main.memory_percent,
        main.occupancy_percent, main.l2_hit_percent);
  }
  Json record = ToJson(*profile);
  record["step"] = step;
  HONE_RETURN_IF_ERROR(recorder_.Decide(key, "profile", fmt::format("{}: {}", candidate.key, text), record));
  return *profile;
}

Result<Json> Spine::ProfileForPrompt(const CandidateRecord& candidate, int step) {
  if (!IsRight(candidate)) return TimeFacts(candidate);
  HONE_ASSIGN_OR_RETURN(const KernelProfile profile, Profile(candidate, step));
  return TimeFacts(candidate, profile);
}

}  // namespace hone

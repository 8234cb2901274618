// Seeds from earlier runs: the best candidates of the runs in --seed-from, one of each kernel class, judged
// here like any other file, and repaired mechanically if they fail here: they may have been written for other
// versions of PyTorch and Triton. Their sources are recorded, so that the run can continue after the earlier
// one is deleted.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "pipeline/mending.h"
#include "pipeline/spine.h"

namespace hone {

namespace {

constexpr size_t kMostOfARun = 3;
constexpr char kInheritedPhase[] = "inherited";

// The fastest right candidate of each kernel class, fastest first. Its speed there does not matter, because
// another task or machine may give it another one.
std::vector<CandidateRecord> WorthInheriting(std::vector<CandidateRecord> all) {
  std::stable_sort(all.begin(), all.end(),
                   [](const CandidateRecord& a, const CandidateRecord& b) { return a.vs_best > b.vs_best; });
  std::set<std::string> classes;
  std::vector<CandidateRecord> best;
  for (CandidateRecord& one : all)
    if (one.phase != "zero" && IsRight(one) && best.size() < kMostOfARun &&
        classes.insert(one.kernel_class).second)
      best.push_back(std::move(one));
  return best;
}

}  // namespace

// Whether an earlier session had finished with the inherited candidates. Versions that did not mend them
// continued with their files as they were, and so does a resumed run.
Result<bool> Spine::OpeningHasBegun() {
  RunStore& store = recorder_.store();
  HONE_ASSIGN_OR_RETURN(const std::vector<CallRecord> calls, store.CallSummaries(recorder_.run().id));
  HONE_ASSIGN_OR_RETURN(const std::vector<CandidateRecord> all, store.CandidateSummaries(recorder_.run().id));
  return !calls.empty() || std::any_of(all.begin(), all.end(), [](const CandidateRecord& one) {
    return one.phase != "zero" && one.phase != kInheritedPhase && one.phase != kMendedPhase;
  });
}

Status Spine::Inherited() {
  RunStore& store = recorder_.store();
  HONE_ASSIGN_OR_RETURN(const bool begun, OpeningHasBegun());
  for (const std::string& name : options_.seed_from) {
    const std::string decision = "from:" + name;
    HONE_ASSIGN_OR_RETURN(const std::optional<DecisionRecord> taken,
                          store.Decision(recorder_.run().id, decision));
    if (!taken) {
      const Result<RunRecord> run = store.FindRun(name);
      std::vector<CandidateRecord> best;
      if (run.ok()) {
        HONE_ASSIGN_OR_RETURN(std::vector<CandidateRecord> all, store.Candidates(run->id));
        best = WorthInheriting(std::move(all));
      }
      Json keys = Json::array();
      std::vector<std::string> names;
      for (const CandidateRecord& one : best) {
        const std::string key = fmt::format("from.{}.{}", FileNameOf(name), one.key);
        CandidateRecord seed = MakeCandidate(key, "", kInheritedPhase, one.source);
        seed.title = fmt::format("{} of {}: {:.2f}x there", one.key, name, one.vs_best);
        HONE_RETURN_IF_ERROR(recorder_.Keep(seed));
        keys.push_back(key);
        names.push_back(one.key);
      }
      const std::string text = !run.ok()      ? fmt::format("{}: {}", name, run.error().message)
                               : best.empty() ? fmt::format("{}: it has no correct candidate", name)
                                              : fmt::format("seeds from {}: {}", name, Join(names, ", "));
      HONE_RETURN_IF_ERROR(
          recorder_.Decide(decision, kInheritedPhase, text, {{"run", name}, {"keys", keys}}));
    }
    HONE_ASSIGN_OR_RETURN(const std::optional<DecisionRecord> kept,
                          store.Decision(recorder_.run().id, decision));
    const Result<Json> record = ParseJson(kept ? kept->json : "");
    if (!record.ok()) continue;
    for (const Json& key : GetMember(*record, "keys")) {
      HONE_ASSIGN_OR_RETURN(const std::optional<CandidateRecord> seed,
                            store.Candidate(recorder_.run().id, key.get<std::string>()));
      if (!seed) continue;
      HONE_ASSIGN_OR_RETURN(const CandidateRecord judged, Judge(*seed));
      HONE_RETURN_IF_ERROR(MendMechanically(judged, begun));
    }
  }
  return Ok();
}

}  // namespace hone

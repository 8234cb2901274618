// The pipeline's rules as pure functions of records. The spine applies them during a run. A report applies
// them again to find out what would have happened with a part switched off.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/analysis_record.h"
#include "pipeline/run_options.h"
#include "store/run_store.h"

namespace hone {

// The prefix of tuned candidates' keys.
constexpr char kTuningKeys[] = "tune.";
// The prefix of decisions that hold a candidate's profile.
constexpr char kProfileKeys[] = "profile:";
// The stages of tuning, in order.
constexpr const char* kTuningStages[] = {"grid", "block", "memory"};

// True if it is right and was timed, so that it has a speed-up of any size.
bool IsRight(const CandidateRecord& candidate);
// True for a verdict that repairing may change, that is, not about speed.
bool IsBroken(const CandidateRecord& candidate);
// True if an analysis should follow for a seed's best candidate.
bool FailedOrLost(const CandidateRecord& candidate);

// The fastest candidate that qualifies; of equals, the first.
template <class Qualifies>
std::optional<CandidateRecord> Fastest(const std::vector<CandidateRecord>& all, Qualifies qualifies) {
  std::optional<CandidateRecord> best;
  for (const CandidateRecord& one : all)
    if (qualifies(one) && (!best || one.vs_best > best->vs_best)) best = one;
  return best;
}

// The fastest baseline in the verdicts, else in the short timing. The verdicts are more reliable, because
// baselines with long preparation are added late.
std::string BestOfPyTorch(const std::vector<CandidateRecord>& all, const std::string& at_first_look);

// What the candidate is, if the analysis requested something else; empty if it matches. `card` is the task's.
std::string NotWhatWasAsked(const AnalysisRecord& asked, const CandidateRecord& candidate, const Json& card);

// Why tuning skips this candidate; empty if it does not. `card` is the task's, `decisions` the run's.
std::string WhyNotTuned(const CandidateRecord& best, const RunOptions& options, const Json& card,
                        const std::vector<DecisionRecord>& decisions);

// Whether a stage's winner replaces the best so far.
bool StageIsBetter(const CandidateRecord& winner, const CandidateRecord& best);

}  // namespace hone

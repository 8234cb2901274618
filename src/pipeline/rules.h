// What the pipeline decides by, as pure functions of records: the spine follows them as a run goes on, and a
// report follows them again to say how it would have gone with a part switched off.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/analysis_record.h"
#include "pipeline/run_options.h"
#include "store/run_store.h"

namespace hone {

// What the keys of tuned candidates begin with.
constexpr char kTuningKeys[] = "tune.";
// And those of the decisions that hold what a profiler said of a candidate.
constexpr char kProfileKeys[] = "profile:";
// The stages of tuning, in order.
constexpr const char* kTuningStages[] = {"grid", "block", "memory"};

// Right, and timed: it has a speed-up, whatever that is.
bool IsRight(const CandidateRecord& candidate);
// A verdict that repairing may change: not a matter of speed.
bool IsBroken(const CandidateRecord& candidate);
// A seed's best that an analysis looks at.
bool FailedOrLost(const CandidateRecord& candidate);

// The fastest of those that qualify; of equals, the first.
template <class Qualifies>
std::optional<CandidateRecord> Fastest(const std::vector<CandidateRecord>& all, Qualifies qualifies) {
  std::optional<CandidateRecord> best;
  for (const CandidateRecord& one : all)
    if (qualifies(one) && (!best || one.vs_best > best->vs_best)) best = one;
  return best;
}

// The fastest baseline as the verdicts saw it; else the one of the short timing. The verdicts
// know better: rungs that take long to prepare join the ladder late.
std::string BestOfPyTorch(const std::vector<CandidateRecord>& all, const std::string& at_first_look);

// What the candidate is, where the analysis asked for something else; empty when it is what was asked for.
// `card` is the task's.
std::string NotWhatWasAsked(const AnalysisRecord& asked, const CandidateRecord& candidate, const Json& card);

// Why tuning leaves this candidate alone; empty when it does not. `card` is the task's, `decisions` the
// run's.
std::string WhyNotTuned(const CandidateRecord& best, const RunOptions& options, const Json& card,
                        const std::vector<DecisionRecord>& decisions);

// A stage's winner replaces the best so far.
bool StageIsBetter(const CandidateRecord& winner, const CandidateRecord& best);

}  // namespace hone

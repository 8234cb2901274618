// The outcome of a run as one sentence: the same for the terminal, the store, best.py and reports. The store
// derives the result (store/run_result.h); this file states the reason.
#pragma once

#include <string>
#include <vector>

#include "store/run_store.h"

namespace hone {

// Of the right candidates: how many were timed, and for how many the machine was too busy.
struct TimedCounts {
  int timed = 0;
  int too_busy = 0;
};
TimedCounts CountTimed(const std::vector<CandidateRecord>& candidates);

// Why no candidate could be judged: what the expert declined by, or the file that the task reads beside it.
std::string WhyNothingTried(const std::vector<CandidateRecord>& candidates,
                            const std::vector<DecisionRecord>& decisions);

// Of `run.result`; empty while the run goes on. A run that failed says why itself, so here only that it did.
std::string ResultSentence(const RunRecord& run, const std::vector<CandidateRecord>& candidates,
                           const std::vector<DecisionRecord>& decisions);

}  // namespace hone

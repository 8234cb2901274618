// The outcome of a run as one sentence, the same for the terminal, the store, best.py and reports. The store
// derives the result (store/run_result.h); this file states the reason.
#pragma once

#include <string>
#include <vector>

#include "store/run_store.h"

namespace hone {

// How many right candidates were timed, and for how many the machine was too busy.
struct TimedCounts {
  int timed = 0;
  int too_busy = 0;
};
TimedCounts CountTimed(const std::vector<CandidateRecord>& candidates);

// Why no candidate could be judged: the expert's reasons for declining, or the file that the task reads from
// its folder.
std::string WhyNothingTried(const std::vector<CandidateRecord>& candidates,
                            const std::vector<DecisionRecord>& decisions);

// Explains `run.result`; empty while the run continues. A failed run has its own reason, so this only says
// that it failed.
std::string ResultSentence(const RunRecord& run, const std::vector<CandidateRecord>& candidates,
                           const std::vector<DecisionRecord>& decisions);

}  // namespace hone

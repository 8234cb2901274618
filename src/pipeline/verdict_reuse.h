// When a stored verdict answers the question again: the hash of everything a verdict depends on, and finding
// a stored verdict by it. With `--again` no stored verdict is used.
#pragma once

#include <optional>
#include <string>

#include "candidate/candidate_file.h"
#include "evaluation/reference_session.h"
#include "store/known_verdict.h"
#include "store/run_store.h"

namespace hone {

// This build of Hone and the device, as far as they can be told before anything is run.
struct JudgingMachine {
  std::string hone;    // hash of this program
  std::string device;  // name, and for a GPU the driver; empty: unknown, so that nothing is reused
};
JudgingMachine IdentifyMachine(const SessionOptions& options);

// A hash of the bytes of task and candidate, the judge's options, the device and all versions. Empty when a
// stored verdict could be wrong: the device is unknown, or the task imports files beside it, whose bytes are
// not in the hash. Left out is lint_predicts: it saves a run where the verdict is already foreseen.
std::string ConditionsOf(const TaskFile& task, const CandidateFile& candidate, const SessionOptions& options,
                         const JudgingMachine& machine);

// The stored verdict, of a run or of `hone bench`, that answers the question; nothing when it must be judged.
// A best.py that is unchanged since Hone wrote it (best_file.h) has the verdict of its candidate.
Result<std::optional<KnownVerdict>> FindKnown(RunStore& store, const TaskFile& task,
                                              const CandidateFile& candidate, const SessionOptions& options,
                                              const JudgingMachine& machine);

}  // namespace hone

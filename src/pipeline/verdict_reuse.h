// Decides when a stored verdict can be reused: the hash of all that a verdict depends on, and the lookup by
// it. With `--again` no stored verdict is used.
#pragma once

#include <optional>
#include <string>

#include "candidate/candidate_file.h"
#include "evaluation/reference_session.h"
#include "store/known_verdict.h"
#include "store/run_store.h"

namespace hone {

// This build of Hone and the device, as far as they are known before anything runs.
struct JudgingMachine {
  std::string hone;    // hash of this program
  std::string device;  // name, and for a GPU the driver; empty: unknown, so that nothing is reused
};
JudgingMachine IdentifyMachine(const SessionOptions& options);

// A hash of the bytes of task and candidate, the judge's options, the device and all versions. Empty if a
// stored verdict could be wrong: the device is unknown, or the task imports files beside it, whose bytes the
// hash does not cover. lint_predicts is left out, because it only skips a run whose verdict is predictable.
std::string ConditionsOf(const TaskFile& task, const CandidateFile& candidate, const SessionOptions& options,
                         const JudgingMachine& machine);

// The stored verdict of a run or of `hone bench` that answers the question. No value if it must be judged. A
// best.py that has not changed since Hone wrote it (best_file.h) has its candidate's verdict.
Result<std::optional<KnownVerdict>> FindKnown(RunStore& store, const TaskFile& task,
                                              const CandidateFile& candidate, const SessionOptions& options,
                                              const JudgingMachine& machine);

}  // namespace hone

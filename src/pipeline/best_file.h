// Writes best.py: the accepted candidate as one importable file for a user's repository. Its first lines say
// what was measured, on which device, and how to check it again.
#pragma once

#include <optional>
#include <string>

#include "store/run_store.h"

namespace hone {

std::string BestFile(const RunRecord& run, const CandidateRecord& best);
// Returns the candidate that `text` was written for: its first lines name it, and BestFile writes exactly
// this text for it. No value for any other text.
std::optional<CandidateRecord> CandidateOfBestFile(RunStore& store, const std::string& text);
// The task's own module under the name ModelNew, with a comment that gives the reason. It is candidate zero,
// and best.py if nothing was accepted.
std::string UnchangedFile(const std::string& task_source, const std::string& why);

}  // namespace hone

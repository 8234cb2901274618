// best.py: the accepted candidate as a user wants it in a repository, one importable file whose first lines
// say what was measured, on what, and how to check it again.
#pragma once

#include <optional>
#include <string>

#include "store/run_store.h"

namespace hone {

std::string BestFile(const RunRecord& run, const CandidateRecord& best);
// The candidate that `text` was written for: its first lines name it, and BestFile writes exactly this text
// for it. Nothing for any other text.
std::optional<CandidateRecord> CandidateOfBestFile(RunStore& store, const std::string& text);
// The task's own module under the name ModelNew, with a comment that says why: candidate zero, and best.py
// where nothing was accepted.
std::string UnchangedFile(const std::string& task_source, const std::string& why);

}  // namespace hone

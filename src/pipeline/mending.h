// Mechanical repair in a run: a failed candidate goes through `hone lint --fix` before a model is asked. The
// repaired file is a separate candidate, with the failed one as its parent. Nothing here asks a model.
#pragma once

#include <string>

#include "analysis/mend.h"
#include "store/run_store.h"

namespace hone {

// The phase of repaired candidates, and the suffix of the failed candidate's key.
constexpr char kMendedPhase[] = "mended";
constexpr char kMendedKey[] = ".mended";

// The failed candidate's file with every fix that has a single right answer; unchanged without one. `facts`
// describe the judging machine as the run's record stores them, so that a resumed run repairs in the same
// way.
MendedSource MendCandidate(const CandidateRecord& failed, const std::string& task_source, const Json& facts);
// "2 mechanical fixes: unknown-triton-op at line 12, name-not-defined at line 3".
std::string FixesSentence(const std::vector<AppliedFix>& fixes);
// Whether the repaired file reached at least the same step of the judge as the failed one.
bool GotAsFar(const CandidateRecord& mended, const CandidateRecord& failed);

}  // namespace hone

// Mechanical repair in a run: a candidate that failed goes through `hone lint --fix` before a model is asked.
// What the fixer makes of it is a candidate of its own, with the failed one as its parent. Nothing here asks
// a model.
#pragma once

#include <string>

#include "analysis/mend.h"
#include "store/run_store.h"

namespace hone {

// The phase of mended candidates, and what is added to the key of the failed one.
constexpr char kMendedPhase[] = "mended";
constexpr char kMendedKey[] = ".mended";

// The failed candidate's file with every fix that has one right answer; unchanged where there is none.
// `facts` are those of the machine that judges, as the run's record keeps them: a resumed run mends alike.
MendedSource MendCandidate(const CandidateRecord& failed, const std::string& task_source, const Json& facts);
// "2 mechanical fixes: unknown-triton-op at line 12, name-not-defined at line 3".
std::string FixesSentence(const std::vector<AppliedFix>& fixes);
// Whether the judge took the mended file at least as far as the failed one.
bool GotAsFar(const CandidateRecord& mended, const CandidateRecord& failed);

}  // namespace hone

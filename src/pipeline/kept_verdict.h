// What a run keeps of a verdict beside its JSON: one list, in kept_verdict.cpp, of the candidate's members,
// those of the Verdict and their places in the JSON. Whatever turns one of the three into another follows it.
#pragma once

#include "base/json_fwd.h"
#include "store/records.h"
#include "verdict/verdict.h"

namespace hone {

void KeepVerdict(const Verdict& verdict, CandidateRecord* candidate);
// These hold what a run keeps, and nothing else of the verdict.
Verdict VerdictOf(const CandidateRecord& candidate);
Verdict VerdictFromJson(const Json& record);

}  // namespace hone

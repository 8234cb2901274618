// The fields of a verdict that a run stores besides its JSON. The list in kept_verdict.cpp relates the
// candidate's members, the Verdict's members and their paths in the JSON. All conversions between the three
// use it.
#pragma once

#include "base/json_fwd.h"
#include "store/records.h"
#include "verdict/verdict.h"

namespace hone {

void KeepVerdict(const Verdict& verdict, CandidateRecord* candidate);
// The results contain only the stored fields of the verdict.
Verdict VerdictOf(const CandidateRecord& candidate);
Verdict VerdictFromJson(const Json& record);

}  // namespace hone

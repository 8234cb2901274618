// Why candidates failed, from verdict, findings and facts, grouped: "3 of 4 candidates launch one kernel per
// time step". Each candidate has one cause: the one that is closest to what a person would change.
#pragma once

#include <vector>

#include "report/explanation.h"

namespace hone {

// The cause that a judged, not accepted candidate is counted under.
std::string CauseOf(const CandidateRecord& candidate);
// The most frequent first.
std::vector<Cause> FindCauses(const RunStory& story);

}  // namespace hone

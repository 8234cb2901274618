// Groups the reasons why candidates failed, from verdict, findings and facts: "3 of 4 candidates launch one
// kernel per time step". Each candidate has one cause, the one that suggests the change to make.
#pragma once

#include <vector>

#include "report/explanation.h"

namespace hone {

// The cause of a judged candidate that was not accepted.
std::string CauseOf(const CandidateRecord& candidate);
// Most frequent first.
std::vector<Cause> FindCauses(const RunStory& story);

}  // namespace hone

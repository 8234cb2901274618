// The difference between two candidates: their facts side by side and a diff of their sources. `hone explain`
// uses it for the best and the second best, `hone compare` for any two.
#pragma once

#include <optional>
#include <vector>

#include "report/explanation.h"

namespace hone {

// Whether the 95% intervals of two speed-ups do not overlap. False when one of them was not timed.
bool IntervalsApart(const Speed& a, const Speed& b);

// Every fact in a fixed order, with whether it differs. Measured numbers differ when their printed forms do;
// whether the difference is significant follows from the intervals only.
std::vector<DifferenceFact> FactsSideBySide(const CandidateRecord& best, const CandidateRecord& other);

// `diff` goes from `other` to `best`.
Difference DifferenceOf(const CandidateRecord& best, const CandidateRecord& other,
                        const std::string& relation);

// The best of the run against the second best accepted candidate. If there is none, against the fastest
// correct one; if there is none of those either, against the candidate that it repairs.
std::optional<Difference> DecisiveDifference(const RunStory& story);

}  // namespace hone

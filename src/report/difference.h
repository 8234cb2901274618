// The difference between two candidates: their facts side by side and a diff of their sources. `hone explain`
// uses it for the best two, `hone compare` for any two.
#pragma once

#include <optional>
#include <vector>

#include "report/explanation.h"

namespace hone {

// Whether the 95% intervals of two speed-ups do not overlap. False if one of them was not timed.
bool IntervalsApart(const Speed& a, const Speed& b);

// Every fact in a fixed order, and whether it differs. Measured numbers differ if their printed forms do.
// Only the intervals show whether the difference is significant.
std::vector<DifferenceFact> FactsSideBySide(const CandidateRecord& best, const CandidateRecord& other);

// `diff` goes from `other` to `best`.
Difference DifferenceOf(const CandidateRecord& best, const CandidateRecord& other,
                        const std::string& relation);

// Compares the run's best candidate with the second best accepted one, else with the fastest correct one,
// else with the candidate that it repairs.
std::optional<Difference> DecisiveDifference(const RunStory& story);

}  // namespace hone

// What sets one candidate apart from another: the facts side by side and the source's diff. `hone explain`
// uses it for the best and the second best, `hone compare` for any two.
#pragma once

#include <optional>
#include <vector>

#include "report/explanation.h"

namespace hone {

// The 95% intervals of two speed-ups do not overlap. Untimed ones are never told apart.
bool IntervalsApart(const Speed& a, const Speed& b);

// Every fact, in a fixed order, with whether it differs. Numbers that were measured differ when they are not
// equal as they are printed; whether such a difference means anything is for the intervals to say.
std::vector<DifferenceFact> FactsSideBySide(const CandidateRecord& best, const CandidateRecord& other);

// `diff` goes from `other` to `best`.
Difference DifferenceOf(const CandidateRecord& best, const CandidateRecord& other,
                        const std::string& relation);

// The best of the run against the second best accepted one; where there is none, against the fastest that was
// right, and where that is none either, against what it was repaired from.
std::optional<Difference> DecisiveDifference(const RunStory& story);

}  // namespace hone

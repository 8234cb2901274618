// What each part of the pipeline was worth: the run is walked again over its own record (record_walk.h) with
// that part switched off. A run is a function of its options and of what models and the judge answered, and
// each answer is in the store under a key; so where the walk meets only known keys, asked with the same
// prompt, its end is exact. Where the walk needs an answer that is not recorded, only a bound is certain: the
// best never gets worse on the way. Without mechanical repair that is the rule: where a mended candidate
// helped, the run would have asked a model about the failed one, which no record holds.
#pragma once

#include <vector>

#include "report/explanation.h"

namespace hone {

// Repair, analysis, seeds, class check, in this order; then mechanical repair, several replies and the
// population search, each where the run had it.
std::vector<Counterfactual> Counterfactuals(const RunStory& story);

}  // namespace hone

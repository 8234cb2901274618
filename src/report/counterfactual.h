// What each part of the pipeline was worth: the run is walked again over its own record (record_walk.h) with
// that part switched off. A run is a function of its options and of what models and the judge answered, and
// each answer is in the store under a key; so where the walk meets only known keys, asked with the same
// prompt, its end is exact. Where the walk needs an answer that is not recorded, only a bound is certain: the
// best never gets worse on the way.
#pragma once

#include <vector>

#include "report/explanation.h"

namespace hone {

// Repair, analysis, seeds and class check, then replies and the population search if the run had them.
std::vector<Counterfactual> Counterfactuals(const RunStory& story);

}  // namespace hone

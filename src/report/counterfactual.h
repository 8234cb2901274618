// Computes the contribution of each part of the pipeline: the run is walked again over its own record
// (record_walk.h) with that part switched off. A run is a function of its options and the answers of models
// and the judge, and the store holds each answer under a key. If the walk needs only known keys with the same
// prompts, its result is exact. If it needs an answer that is not recorded, only a bound is certain: the best
// never gets worse during a run. That is the usual case for mechanical repair: if a repaired candidate
// helped, the run without it would have asked a model about the failed one, which no record holds.
#pragma once

#include <vector>

#include "report/explanation.h"

namespace hone {

// For repair, analysis, seeds and class check, in this order; then mechanical repair, several replies and the
// population search, each if the run used it.
std::vector<Counterfactual> Counterfactuals(const RunStory& story);

}  // namespace hone

// The two sides of `hone compare --policies`: lists of runs and suites as the user names them, read from the
// store.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "report/policy_comparison.h"
#include "store/run_store.h"

namespace hone {

// Whether one of the words is a list (R1,R2 or R1-R5) and not a name in the store.
Result<bool> NameLists(RunStore& store, const std::vector<std::string>& words);

// Returns an Error if there are not two sides, if a name is unknown, or if a run is on both sides.
Result<std::array<PolicySide, 2>> ReadPolicySides(RunStore& store, const std::vector<std::string>& words);

}  // namespace hone

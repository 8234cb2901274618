// The facts about a candidate as JSON: kernels, launches, loops, memory, library calls. `hone lint --json`
// prints them; prompts and the pipeline's decisions use them.
#pragma once

#include "analysis/candidate.h"
#include "base/json_fwd.h"

namespace hone {

OrderedJson CollectFacts(const Candidate& candidate);

}  // namespace hone

// The facts about a candidate as JSON: kernels, launches, loops, memory, library calls. This is what
// `hone lint --json` shows and what prompts and decisions of the pipeline read.
#pragma once

#include "analysis/candidate.h"
#include "base/json_fwd.h"

namespace hone {

OrderedJson CollectFacts(const Candidate& candidate);

}  // namespace hone

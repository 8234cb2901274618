// A verdict as stages for a reward: has code, builds, runs, fraction of trials right, speed. A pure function
// of the verdict; what a stage is worth is the client's decision (python/hone/rewards).
#pragma once

#include <string>

#include "base/json.h"

namespace hone {

// `record` is what `hone bench --json --verbose` prints. A stage that was not reached is null.
Json RewardResult(const Json& record);
// Of a reply without a candidate in it.
Json RewardWithoutCode();

// Whether the reason says that the candidate works on the judge and not on the task: it left the sandbox,
// changed the clock, answered from memory, left work undone when the clock stopped, or was faster than the
// device can be.
bool IsCheat(const std::string& reason);

// The verdict as clients get it: without the measurement, and without the seeds, because later candidates are
// judged on the same cases as long as the session stays warm.
Json VerdictForClient(Json record);

}  // namespace hone

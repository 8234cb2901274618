// Turns a verdict into stages for a reward: has code, builds, runs, fraction of right trials, speed. It is a
// pure function of the verdict. The client decides the value of each stage (python/hone/rewards).
#pragma once

#include <string>

#include "base/json.h"

namespace hone {

// `record` is the output of `hone bench --json --verbose`. A stage that was not reached is null.
Json RewardResult(const Json& record);
// The result for a reply without a candidate.
Json RewardWithoutCode();

// Whether the reason means that the candidate tries to defeat the judge: it left the sandbox, changed the
// clock, returned stored answers, left work unfinished when the clock stopped, or was faster than the device
// can be.
bool IsCheat(const std::string& reason);

// The verdict for clients: without the measurement and without the seeds, because a warm session judges later
// candidates on the same cases.
Json VerdictForClient(Json record);

}  // namespace hone

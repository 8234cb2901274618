// What follows from the timed blocks: the ratio with its interval, and whether the blocks show the work that
// they claim.
#pragma once

#include "evaluation/timing.h"
#include "verdict/objection.h"
#include "verdict/verdict.h"

namespace hone {

GateResult TimedAnswersGate(const Timing& timing);
GateResult SynchronisedGate(const Timing& timing);
GateResult FloorGate(const Timing& timing, const JudgeContext& context);
GateResult SpeedGate(const Verdict& verdict);

// Fills in times and ratios. Returns why the machine was too busy to tell, or nothing.
std::optional<std::string> SetSpeed(const Measurement& measurement, const JudgeContext& context,
                                    Verdict* verdict);

}  // namespace hone

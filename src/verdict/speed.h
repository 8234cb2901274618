// Evaluates the timed blocks: the ratio with its interval, and whether the blocks contain the work they
// should.
#pragma once

#include "evaluation/timing.h"
#include "verdict/objection.h"
#include "verdict/verdict.h"

namespace hone {

GateResult TimedAnswersGate(const Timing& timing);
GateResult SynchronisedGate(const Timing& timing);
GateResult FloorGate(const Timing& timing, const JudgeContext& context);
GateResult SpeedGate(const Verdict& verdict);

// Sets times and ratios. Returns the reason if the machine was too busy to tell.
std::optional<std::string> SetSpeed(const Measurement& measurement, const JudgeContext& context,
                                    Verdict* verdict);

}  // namespace hone

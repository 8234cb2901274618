// One phase of an evaluation, in the one place that decides whose fault an exception is.
//
// The candidate's process chooses what its replies say, so whatever reads a reply (protocol_codec.h,
// tensor_tree.h, timed_side.cpp) checks its form without throwing and reports a WorkerFailure. What is thrown
// in a phase is therefore Hone's own failure and an Error; no candidate is rejected for it.
#pragma once

#include <functional>

#include "base/result.h"
#include "evaluation/phase.h"

namespace hone {

// What `run` returned, or an Error that names the phase when it threw.
Result<bool> RunPhase(Phase phase, const std::function<Result<bool>()>& run);

}  // namespace hone

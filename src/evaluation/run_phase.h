// Runs one phase of an evaluation. It is the only place that decides what caused an exception.
//
// The candidate's process controls its replies, so all code that reads a reply (protocol_codec.h,
// tensor_tree.h, timed_side.cpp) checks it without throwing and reports a WorkerFailure. An exception in a
// phase is therefore Hone's own failure and becomes an Error. It never rejects a candidate.
#pragma once

#include <functional>

#include "base/result.h"
#include "evaluation/phase.h"

namespace hone {

// Returns the result of `run`, or an Error with the phase's name if it threw.
Result<bool> RunPhase(Phase phase, const std::function<Result<bool>()>& run);

}  // namespace hone

// One phase of an evaluation, with whose fault an exception is decided in one place.
//
// The candidate's process chooses what its replies say. protocol_codec.h checks their form without throwing;
// what slips through makes Hone's readers throw a logic_error (a JSON value of another kind, an index or a
// length out of range): that ends this evaluation with a verdict. Anything else that is thrown, bad_alloc
// first of all, is Hone's own failure and an Error; no candidate is rejected for it.
#pragma once

#include <functional>
#include <optional>

#include "evaluation/measurement.h"

namespace hone {

// What `run` returned; false when the candidate's reply made it throw, and then `stop` says so.
Result<bool> RunPhase(Phase phase, const std::function<Result<bool>()>& run, std::optional<Stop>* stop);

}  // namespace hone

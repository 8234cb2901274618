// One phase of an evaluation, with whose fault an exception is decided in one place.
//
// The candidate's process chooses what its replies say. A reply of a form that nobody expects makes Hone's
// readers throw a logic_error (a JSON value of another kind, an index or a length out of range): that ends
// this evaluation with a verdict. Anything else that is thrown, bad_alloc first of all, is Hone's own failure
// and an Error; no candidate is rejected for it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "evaluation/measurement.h"

namespace hone {

// What `phase` returned; false when the candidate's reply made it throw, and then `stop` says so.
Result<bool> RunPhase(const std::string& name, const std::function<Result<bool>()>& phase,
                      std::optional<Stop>* stop);

}  // namespace hone

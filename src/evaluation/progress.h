// Reports the current step to the user. Called from one thread.
#pragma once

#include <functional>
#include <string>

namespace hone {

// Step `done` of `total` in the phase. If total is 0, it is unknown.
using Progress = std::function<void(const std::string& phase, int done, int total)>;

}  // namespace hone

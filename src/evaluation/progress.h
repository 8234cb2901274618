// Tells the user what is happening now. Called from one thread.
#pragma once

#include <functional>
#include <string>

namespace hone {

// `done` of `total` steps of the phase; total 0: unknown.
using Progress = std::function<void(const std::string& phase, int done, int total)>;

}  // namespace hone

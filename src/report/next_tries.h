// What to try next, as commands that can be pasted: each follows from a fact of the run, never from a hunch.
#pragma once

#include <vector>

#include "report/explanation.h"

namespace hone {

// At most five, the most promising first. Reads everything of `explanation` but `next`.
std::vector<NextTry> WhatToTryNext(const RunStory& story, const Explanation& explanation);

}  // namespace hone

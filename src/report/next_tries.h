// Suggests next steps as commands that can be pasted. Each follows from a fact of the run.
#pragma once

#include <vector>

#include "report/explanation.h"

namespace hone {

// At most five, the most promising first. Reads all of `explanation` but `next`.
std::vector<NextTry> WhatToTryNext(const RunStory& story, const Explanation& explanation);

}  // namespace hone

// A verdict as text: one screen, with the answer first and the next step last.
#pragma once

#include <string>

#include "base/json_fwd.h"
#include "base/terminal.h"

namespace hone {

// `record` is what `bench --json` prints, so that a stored verdict reads the same as a fresh one.
std::string VerdictText(const Json& record, const Style& style, bool verbose);

// What a person can do about this reason; one sentence.
std::string NextStep(const std::string& reason);

// Whether a file with this reason gave right answers everywhere: what is left to say is about its speed.
bool AnswersAreRight(const std::string& reason);

}  // namespace hone

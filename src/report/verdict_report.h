// A verdict as text on one screen, with the answer first and the next step last.
#pragma once

#include <string>

#include "base/json_fwd.h"
#include "base/terminal.h"

namespace hone {

// `record` is the output of `bench --json`, so that stored and fresh verdicts look the same.
std::string VerdictText(const Json& record, const Style& style, bool verbose);

// What the user can do about this reason, in one sentence.
std::string NextStep(const std::string& reason);

// Whether a file with this reason gave right answers everywhere, so that only its speed is open.
bool AnswersAreRight(const std::string& reason);

}  // namespace hone

// The inputs of a prompt in the form that templates use: numbers with units, errors shortened to the useful
// part, fences that the text inside cannot close. For the files that make prompts and the facts in them.
#pragma once

#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "model/prompt.h"

namespace hone {

// All values that templates use, except the parts that are rendered first.
Json PromptValues(const PromptInputs& inputs);

// For example "3.2 times the floor", without exponents.
std::string TimesTheFloor(double us, double floor_us);
// One line for each metric of a profile (PromptInputs::profile), and who reports them.
Json ProfileLines(const Json& profile);
std::string ProfileSource(const Json& profile);

// Returns the last `max_lines` lines and `max_bytes` bytes, because the end of a traceback or a compiler's
// log has the error.
std::string ClipToEnd(std::string_view text, size_t max_lines, size_t max_bytes);
// A fence of backticks: one more than the longest run in the text, and at least three.
std::string FenceFor(std::string_view text);

}  // namespace hone

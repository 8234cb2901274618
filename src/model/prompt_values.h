// The inputs of a prompt in the form that templates use: numbers with units, errors clipped to what helps,
// fences that the text inside cannot close. For the files that make prompts and the facts in them.
#pragma once

#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "model/prompt.h"

namespace hone {

// Everything the templates name except the parts that are rendered first.
Json PromptValues(const PromptInputs& inputs);

// "3.2 times the floor", for people: no exponents.
std::string TimesTheFloor(double us, double floor_us);
// A line for each metric of a profile (PromptInputs::profile), and who says so.
Json ProfileLines(const Json& profile);
std::string ProfileSource(const Json& profile);

// Returns the last `max_lines` lines and `max_bytes` bytes: the end of a traceback or a compiler's log says
// what is wrong.
std::string ClipToEnd(std::string_view text, size_t max_lines, size_t max_bytes);
// Backticks, one more than the longest run inside and at least three.
std::string FenceFor(std::string_view text);

}  // namespace hone

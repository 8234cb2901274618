// The table of names that Python files import in one usual way. The check that finds a missing name suggests
// the line, and the fix adds it.
#pragma once

#include <string_view>

namespace hone {

// Returns "import triton.language as tl" for "tl". Empty for a name that may come from several modules.
std::string_view UsualImport(std::string_view name);

}  // namespace hone

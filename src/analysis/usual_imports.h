// The one table of names that Python files import in one way: the check that misses a name advises the line,
// and the fix adds it.
#pragma once

#include <string_view>

namespace hone {

// "import triton.language as tl" for "tl"; empty for a name that may come from several places.
std::string_view UsualImport(std::string_view name);

}  // namespace hone

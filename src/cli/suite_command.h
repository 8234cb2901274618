// What `hone resume` needs of `hone suite`.
#pragma once

#include <string>

#include "base/result.h"

namespace hone {

// Continues a suite that is in the store. Returns the exit code. `jobs` 0: as many at once as before.
Result<int> ResumeSuite(const std::string& name, int jobs, bool json, bool quiet);

}  // namespace hone

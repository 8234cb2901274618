// The task files that `hone suite` runs: those named, and those found in folders.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace hone {

struct FoundTasks {
  std::vector<fs::path> tasks;    // in the order of `where`; inside a folder by name
  std::vector<fs::path> skipped;  // Python files that define no Model: helpers, candidates, scripts
};

// `range` is empty, "39" or "33-42": only files whose names begin with such a number. An Error when no task
// is left.
Result<FoundTasks> FindTasks(const std::vector<std::string>& where, const std::string& range);

// True when the source binds the name Model at its top level, as the parser sees it. A file that does not
// parse, or imports everything from elsewhere (*), counts as one: running it tells.
bool DefinesModel(const std::string& source);

}  // namespace hone

// Finds the task files that `hone suite` runs: named files, and those in folders.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace hone {

struct SkippedFile {
  fs::path path;
  std::string why;  // "it defines no class Model"
};

struct FoundTasks {
  std::vector<fs::path> tasks;       // in the order of `where`; inside a folder by name
  std::vector<SkippedFile> skipped;  // Python files without a Model: helpers, candidates, scripts
};

// `range` is empty, "39" or "33-42": only files whose names begin with such a number. Returns an Error if no
// task is left.
Result<FoundTasks> FindTasks(const std::vector<std::string>& where, const std::string& range);

// Why the source is not a task. Empty if it is one: it binds the name Model at its top level, as the parser
// sees it, or imports everything from elsewhere (*). A file that does not parse is a task if its text
// contains `class Model`: running it shows the error.
std::string WhyNoTask(const std::string& source);

}  // namespace hone

// A task on disk: the user's PyTorch module in the KernelBench convention. Loading does not run the file; the
// reference worker finds out whether it has a Model.
#pragma once

#include <string>

#include "base/files.h"
#include "base/result.h"

namespace hone {

struct TaskFile {
  fs::path path;     // absolute
  std::string name;  // "39_GRU"
  std::string source;
  std::string sha256;
};

Result<TaskFile> LoadTaskFile(const fs::path& path);

// For tasks and candidates: reads a text file of at most 4 MiB without NUL bytes.
Result<std::string> ReadPythonFile(const fs::path& path, const std::string& what);

}  // namespace hone

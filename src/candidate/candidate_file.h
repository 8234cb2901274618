// A candidate: one Python file with ModelNew, from any source. Its text is its identity. The pipeline records
// where it came from.
#pragma once

#include <string>

#include "base/files.h"
#include "base/result.h"

namespace hone {

struct CandidateFile {
  fs::path path;
  std::string name;
  std::string source;
  std::string sha256;
};

Result<CandidateFile> LoadCandidateFile(const fs::path& path);

// Copies the candidate into its private folder: the file alone, or its whole package if it is part of one (at
// most 16 MiB). Returns the path of the copy.
Result<fs::path> CopyInto(const CandidateFile& candidate, const fs::path& folder);

}  // namespace hone

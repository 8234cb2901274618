// A candidate: one Python file with ModelNew, from anyone. Its text is the identity; where it came from is
// lineage, which the pipeline records.
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

// Puts what the candidate needs into its private folder: the file alone, or its whole package when it lives
// in one (at most 16 MiB). Returns the path of the copy.
Result<fs::path> CopyInto(const CandidateFile& candidate, const fs::path& folder);

}  // namespace hone

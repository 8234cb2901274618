// A suite as one file: its row and an archive of each of its runs (run_archive.h), in a gzip-compressed tar.
// Shards of one suite, archived on their machines, become one suite where they are imported.
//
//   hone-suite.json              what it is: format, Hone's version, the suite's row, the hash of every run
//   runs/<name>.hone.tar.gz      the runs
#pragma once

#include <string>
#include <vector>

#include "pipeline/run_archive.h"

namespace hone {

// Whether a file is an archive of a suite.
bool IsSuiteArchive(const fs::path& file);

struct PackedSuite {
  std::string bytes;
  int runs = 0;
  std::vector<std::string> without_files;  // runs whose folder was left out, with the reason
};
// Holds the lock of each run while it is read. Returns an Error if a process executes one of them.
Result<PackedSuite> PackSuite(RunStore& store, const SuiteRecord& suite);

struct ImportedSuite {
  SuiteRecord suite;
  int added = 0;
  int known = 0;
};
// Imports into `folder`. Every run is checked before the first is written.
Result<ImportedSuite> ImportSuite(RunStore& store, const fs::path& file, const fs::path& folder);

}  // namespace hone

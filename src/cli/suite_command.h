// Functions of `hone suite` that `hone resume` and the other suite files use.
#pragma once

#include <string>

#include "base/result.h"
#include "store/run_store.h"

namespace hone {

// Options that may change when a suite is resumed.
struct SuiteResumption {
  std::string on;  // empty: unchanged
  bool allow_mixed = false;
  bool table_only = false;
};

// Resumes a suite from the store. Returns the exit code.
Result<int> ResumeSuite(const std::string& name, const SuiteResumption& how, bool json, bool quiet);

// Prints the table to standard output and, unless the folder has it already, writes it into the suite's
// folder. Returns the exit code.
Result<int> PrintSuite(RunStore& store, const SuiteRecord& suite, bool keep_files, bool json,
                       const std::string& csv);
fs::path FolderOfSuite(const SuiteRecord& suite);

}  // namespace hone

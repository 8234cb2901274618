// What `hone resume` needs of `hone suite`, and what its parts share.
#pragma once

#include <string>

#include "base/result.h"
#include "store/run_store.h"

namespace hone {

// What a resumed suite may do differently from before.
struct SuiteResumption {
  std::string on;  // empty: as before
  bool allow_mixed = false;
  bool table_only = false;
};

// Continues a suite that is in the store. Returns the exit code.
Result<int> ResumeSuite(const std::string& name, const SuiteResumption& how, bool json, bool quiet);

// The table on standard output and, unless the folder has it already, in the suite's folder. Returns the exit
// code.
Result<int> PrintSuite(RunStore& store, const SuiteRecord& suite, bool keep_files, bool json,
                       const std::string& csv);
fs::path FolderOfSuite(const SuiteRecord& suite);

}  // namespace hone

// A run as one file: its rows in the store, the task's source and the files of its folder, in a
// gzip-compressed tar. The same run gives the same bytes.
//
//   hone-run.json    what it is: format, Hone's version, schema, and size and hash of every other member
//   task.py          the task
//   store/run.json, store/suite.json, store/<table>.jsonl    a row per line
//   folder/...       best.py, code/, evaluation/, llm/, console.log, usage.csv, run.json
//
// Imported archives are untrusted: names, sizes, hashes, types and JSON are checked before anything is
// written, and only files that the rows account for are written.
#pragma once

#include <map>
#include <string>

#include "store/run_rows.h"

namespace hone {

struct RunArchive {
  RunRows rows;
  std::map<std::string, std::string> files;  // files of the folder, by relative name
};

// Collects a run from the store and its folder. If the folder is left out, `left_alone` has the reason.
Result<RunArchive> CollectRun(RunStore& store, const RunRecord& run, std::string* left_alone);
// Returns an Error if a model's API key occurs in it.
Result<std::string> PackRun(const RunArchive& archive);
// Checked against this store's schema.
Result<RunArchive> ReadRunArchive(RunStore& store, const fs::path& file);

struct ImportedRun {
  RunRecord run;
  bool known = false;  // it existed before; nothing was written
};
// Imports under a new number, into `folder`/<name of the run>.
Result<ImportedRun> ImportRun(RunStore& store, const RunArchive& archive, const fs::path& folder);

}  // namespace hone

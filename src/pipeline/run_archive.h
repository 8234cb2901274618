// A run as one file that can be taken anywhere: its rows in the store, the task's source and the files of its
// folder, in a tar that is compressed with gzip. The same run gives the same bytes.
//
//   hone-run.json    what it is: format, Hone's version, schema, and size and hash of every other member
//   task.py          the task
//   store/run.json, store/suite.json, store/<table>.jsonl    a row per line
//   folder/...       best.py, code/, evaluation/, llm/, console.log, usage.csv, run.json
//
// What comes from elsewhere is hostile until shown otherwise: names, sizes, hashes, types and JSON are
// checked before anything is written, and only files that the rows account for are.
#pragma once

#include <map>
#include <string>

#include "store/run_rows.h"

namespace hone {

struct RunArchive {
  RunRows rows;
  std::map<std::string, std::string> files;  // of the folder, by relative name
};

// From the store and the folder; `left_alone` says why the folder is not in it, when it is not.
Result<RunArchive> CollectRun(RunStore& store, const RunRecord& run, std::string* left_alone);
// An error when a key to a model is anywhere in it.
Result<std::string> PackRun(const RunArchive& archive);
// Checked against this store's schema.
Result<RunArchive> ReadRunArchive(RunStore& store, const fs::path& file);

struct ImportedRun {
  RunRecord run;
  bool known = false;  // it was here before; nothing was written
};
// Under a new number; into `folder`/<name of the run>.
Result<ImportedRun> ImportRun(RunStore& store, const RunArchive& archive, const fs::path& folder);

}  // namespace hone

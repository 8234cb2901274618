// A run's rows as values that can move to another store: every column of every table that belongs to a run.
// The columns are read from the schema, so that later columns need no change here. Row ids and the run's
// folder are left out, because they are meaningful in one store only.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "store/run_store.h"

namespace hone {

struct RunRows {
  int schema = 0;
  Json run;    // without id, folder and suite_id
  Json suite;  // null if the run is in no suite
  std::map<std::string, std::vector<Json>>
      tables;  // for example "candidate": its rows in the order of the run
  int64_t count() const;
};

// The schema version that this Hone writes.
int SchemaVersion(RunStore& store);

// Reads a consistent snapshot, even while another process writes.
Result<RunRows> ReadRunRows(RunStore& store, int64_t run_id);

// Validates rows from another store: known tables and columns, the right types, hashes that match the
// sources, valid JSON, and a name that can be a folder's name.
Status CheckRunRows(RunStore& store, const RunRows& rows);

// True for a run from another store, which is marked in its options. It cannot be resumed: its command and
// its model were chosen on another machine. The mark is not exported.
bool IsFromArchive(const Json& options);

// Makes the rows a member of a suite in this store.
Status PutIntoSuite(RunStore& store, const std::string& name, RunRows* rows);

// Export and import the row of a suite; KeepSuite returns its id here. Shards of one suite become one suite.
Result<Json> ReadSuiteRow(RunStore& store, int64_t id);
Result<int64_t> KeepSuite(RunStore& store, const Json& suite, const fs::path& suite_folder);

// Writes all rows or none. `before_commit` runs after the rows are written and can still abort. A suite that
// lists its tasks (suite_parts.h) has one run of each. An earlier state of the same run is replaced, and
// `replaced` gets its folder. Another run of the task is an Error.
Result<int64_t> WriteRunRows(RunStore& store, const RunRows& rows, const std::string& name,
                             const fs::path& folder, const fs::path& suite_folder,
                             const std::function<Status()>& before_commit, fs::path* replaced = nullptr);

// Finds a stored run with the same calls, candidates and decisions, whatever its id, name and folder. In a
// suite that lists its tasks, it also finds the finished run that these rows are an earlier state of.
Result<std::optional<RunRecord>> FindSameRun(RunStore& store, const RunRows& rows);

Result<bool> HasRunNamed(RunStore& store, const std::string& name);
// Whether another run uses the same folder.
Result<bool> HasFolderOfAnother(RunStore& store, const RunRecord& run);

// The keys of a run's rows in the table "call" or "candidate".
Result<std::vector<std::string>> KeysOfRun(RunStore& store, const char* table, int64_t run_id);

// Number of rows and bytes of content, per run.
struct RowSize {
  int64_t rows = 0;
  int64_t bytes = 0;
};
Result<std::map<int64_t, RowSize>> SizesOfRuns(RunStore& store);

}  // namespace hone

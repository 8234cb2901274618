// A run's rows as values that can leave the store and enter another one: every column of every table that
// belongs to a run, read from the schema itself, so that a column added later travels without a change here.
// Numbers of rows and the run's folder stay behind: they mean something in one store only.
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
  Json run;                                         // without id, folder and suite_id
  Json suite;                                       // null: of no suite
  std::map<std::string, std::vector<Json>> tables;  // "candidate": its rows in the order of the run
  int64_t count() const;
};

// The schema's version that this Hone writes.
int SchemaVersion(RunStore& store);

// As of one moment, even while somebody writes.
Result<RunRows> ReadRunRows(RunStore& store, int64_t run_id);

// Whether rows from elsewhere are what they say: known tables and columns, the right types, hashes that
// agree with the sources, JSON that can be read, a name that can be a folder's.
Status CheckRunRows(RunStore& store, const RunRows& rows);

// A run from elsewhere is marked in its options: its command and its model were chosen on another machine, so
// it cannot be resumed. The mark does not leave the store.
bool IsFromArchive(const Json& options);

// Makes the rows those of a member of a suite that is here.
Status PutIntoSuite(RunStore& store, const std::string& name, RunRows* rows);

// A suite's row as it leaves the store, and as it comes back; returns its number here. Shards of one suite
// become one suite.
Result<Json> ReadSuiteRow(RunStore& store, int64_t id);
Result<int64_t> KeepSuite(RunStore& store, const Json& suite, const fs::path& suite_folder);

// All of it or nothing. `before_commit` runs with the rows in place and can still refuse. A suite that knows
// its tasks (suite_parts.h) has one run of each: an earlier state of the same run is replaced (`replaced` is
// its folder), another run of the task is an Error.
Result<int64_t> WriteRunRows(RunStore& store, const RunRows& rows, const std::string& name,
                             const fs::path& folder, const fs::path& suite_folder,
                             const std::function<Status()>& before_commit, fs::path* replaced = nullptr);

// A stored run with the same calls, candidates and decisions, whatever its number, name and folder. In a
// suite that knows its tasks also the finished run that these rows are an earlier state of.
Result<std::optional<RunRecord>> FindSameRun(RunStore& store, const RunRows& rows);

Result<bool> HasRunNamed(RunStore& store, const std::string& name);
// Whether another run was told to use the same folder.
Result<bool> HasFolderOfAnother(RunStore& store, const RunRecord& run);

// The keys of a run's rows in "call" or "candidate".
Result<std::vector<std::string>> KeysOfRun(RunStore& store, const char* table, int64_t run_id);

// Rows and bytes of content, by run.
struct RowSize {
  int64_t rows = 0;
  int64_t bytes = 0;
};
Result<std::map<int64_t, RowSize>> SizesOfRuns(RunStore& store);

}  // namespace hone

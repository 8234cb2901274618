// Queries over the whole store for lists and totals. SQLite filters, sorts and pages, without the columns
// that hold sources and prompts. The indexes of schema version 3 serve these queries, for stores with
// thousands of runs and a hundred thousand candidates.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "store/run_store.h"

namespace hone {

struct RunQuery {
  std::string words;  // each must occur in task, name, proposer, model, device, outcome, note or tags
  std::string status;
  std::string task;
  std::string device;
  std::string suite;
  std::string tag;
  std::vector<std::string> below;  // only runs whose folder is one of these or below it; empty: all
  std::string order = "created";   // one of RunOrders()
  bool descending = true;
  int64_t offset = 0;
  int64_t most = 50;
};
const std::vector<std::string>& RunOrders();

struct RunRow {
  RunRecord run;  // as RunStore::Runs returns it
  std::string suite;
  int64_t candidates = 0;  // without candidate `zero`
  int64_t accepted = 0;
  int64_t tokens = 0;
};
struct RunList {
  std::vector<RunRow> rows;
  int64_t total = 0;  // number of matches on all pages
};

struct SuiteLine {
  SuiteRecord suite;
  int64_t tasks = 0;
  int64_t done = 0;
  int64_t running = 0;
  int64_t faster = 0;
  int64_t failed = 0;
  int64_t nothing_tried = 0;
  // Over the runs that CountsInMeans accepts, with 1x for runs without an accepted candidate. No value
  // without such runs.
  std::optional<double> geomean_vs_best;
  int64_t degenerate = 0;  // those of them whose output does not depend on their inputs
  std::optional<double> geomean_without_degenerate;
};

struct DeviceLine {
  std::string device;
  std::string targets;  // "cpu, triton"
  int64_t runs = 0;
  int64_t tasks = 0;
  int64_t faster = 0;
  int64_t last_run = 0;
  std::string last_used;
};

struct StoreTotals {
  std::map<std::string, int64_t> runs;                                // by status
  std::map<std::pair<std::string, std::string>, int64_t> candidates;  // by verdict and reason
  int64_t suites = 0;
  UsageTotals usage;
  double run_seconds = 0;
};

Result<RunList> ListRuns(RunStore& store, const RunQuery& query);
// Newest first.
Result<std::vector<SuiteLine>> ListSuites(RunStore& store);
Result<std::vector<DeviceLine>> ListDevices(RunStore& store);
// For filters. Reads only the names, from an index.
Result<std::vector<std::string>> DeviceNames(RunStore& store);
Result<StoreTotals> Totals(RunStore& store);
// The newest whole verdict for the task, or for any task on the device; empty if there is none.
Result<std::string> NewestVerdictOfTask(RunStore& store, const std::string& task);
Result<std::string> NewestVerdictOnDevice(RunStore& store, const std::string& device);

}  // namespace hone

// Questions over the whole store, as lists, leaderboards and totals ask them: filtered, sorted and paged by
// SQLite, never a row with a source or a prompt in it. Made for stores of thousands of runs and a hundred
// thousand candidates; the indexes of schema version 3 are there for these queries.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "store/run_store.h"

namespace hone {

struct RunQuery {
  std::string words;  // each of them somewhere in task, name, proposer, model, device or outcome
  std::string status;
  std::string task;
  std::string device;
  std::string suite;
  std::string order = "created";  // one of RunOrders()
  bool descending = true;
  int64_t offset = 0;
  int64_t most = 50;
};
const std::vector<std::string>& RunOrders();

struct RunRow {
  RunRecord run;  // as RunStore::Runs gives it
  std::string suite;
  int64_t candidates = 0;  // without PyTorch itself
  int64_t accepted = 0;
  int64_t tokens = 0;
};
struct RunList {
  std::vector<RunRow> rows;
  int64_t total = 0;  // that match, on all pages
};

struct SuiteLine {
  SuiteRecord suite;
  int64_t tasks = 0;
  int64_t done = 0;
  int64_t running = 0;
  int64_t faster = 0;
  double geomean_vs_best = 1;  // PyTorch kept counts as 1
};

// The best accepted result of a task on a device.
struct TaskLine {
  std::string task;
  std::string device;
  int64_t runs = 0;
  int64_t best_run = 0;  // 0: PyTorch is kept so far
  std::string best_key;
  std::string proposer;
  std::string model;
  std::string kind;
  std::string kernel_class;
  double vs_best = 1;
  double ci_low = 0;
  double ci_high = 0;
  double vs_eager = 1;
  int64_t last_run = 0;
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
  int64_t calls = 0;
  int64_t prompt_tokens = 0;
  int64_t completion_tokens = 0;
  double cost_usd = 0;
  double run_seconds = 0;
};

Result<RunList> ListRuns(RunStore& store, const RunQuery& query);
// The newest first.
Result<std::vector<SuiteLine>> ListSuites(RunStore& store);
// The fastest first, then those where PyTorch is kept. Empty words: everything.
Result<std::vector<TaskLine>> ListTasks(RunStore& store, const std::string& device, const std::string& words);
Result<std::vector<DeviceLine>> ListDevices(RunStore& store);
// For filters: names alone, out of an index.
Result<std::vector<std::string>> DeviceNames(RunStore& store);
Result<StoreTotals> Totals(RunStore& store);
// The newest whole verdict of a judged candidate of the task (or of anything on the device); empty: none.
Result<std::string> NewestVerdictOfTask(RunStore& store, const std::string& task);
Result<std::string> NewestVerdictOnDevice(RunStore& store, const std::string& device);

}  // namespace hone

// Decides what `hone gc` may remove. It is a pure function of the store's content, so that the dry run and
// the deletion agree.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "store/run_store.h"

namespace hone {

struct RetentionRules {
  int64_t now = 0;  // seconds since the epoch
  double days = 30;
  bool suites = false;  // members of suites may be removed too
};

// Why a run stays. The first reason that holds.
enum class Kept { kNot, kRunning, kYoung, kUnfinished, kBest, kSuite };
const char* KeptName(Kept kept);

// Returns one answer per run. `at_work` are the runs that a process works on now. A run left behind as
// "running" stays for at least a day, because a suite creates its members before it starts them.
std::vector<Kept> PlanRuns(const std::vector<RunRecord>& runs, const std::set<int64_t>& at_work,
                           const RetentionRules& rules);
// The same for verdicts of `hone bench`. Keeps young ones and the best accepted verdict for each task and
// device.
std::vector<Kept> PlanVerdicts(const std::vector<VerdictRecord>& verdicts, const RetentionRules& rules);

// Returns free pages to the file system. Ok(false): another process is writing, so this must wait.
Result<bool> CompactStore(RunStore& store);
Status DeleteVerdict(RunStore& store, int64_t id);
// Deletes suites without members. Returns their number.
Result<int64_t> DeleteEmptySuites(RunStore& store, const std::string& created_before);

}  // namespace hone

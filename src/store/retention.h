// What `hone gc` may remove: a pure function of what the store holds, so that the dry run and the deed agree.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "store/run_store.h"

namespace hone {

struct RetentionRules {
  int64_t now = 0;  // seconds since the epoch
  double days = 30;
  bool suites = false;  // members of suites may go, too
};

// Why a run stays; the first that holds.
enum class Kept { kNot, kRunning, kYoung, kUnfinished, kBest, kSuite };
const char* KeptName(Kept kept);

// One answer per run. `at_work` are the runs somebody works on right now. A run that was left behind as
// "running" stays for a day at least: a suite makes its members before it starts them.
std::vector<Kept> PlanRuns(const std::vector<RunRecord>& runs, const std::set<int64_t>& at_work,
                           const RetentionRules& rules);
// The same for verdicts of `hone bench`: the young ones and the best accepted of each task and device stay.
std::vector<Kept> PlanVerdicts(const std::vector<VerdictRecord>& verdicts, const RetentionRules& rules);

// Gives free pages back to the file system. Ok(false): another process is writing, so it has to wait.
Result<bool> CompactStore(RunStore& store);
Status DeleteVerdict(RunStore& store, int64_t id);
// Suites without members; returns how many.
Result<int64_t> DeleteEmptySuites(RunStore& store, const std::string& created_before);

}  // namespace hone

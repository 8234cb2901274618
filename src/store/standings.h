// Which results of a task may be compared, and how they rank. Two speed-ups are comparable when they were
// measured on the same task text, the same device, by the same versions of Hone and the libraries, against
// the same baselines and with the same rule for what is right. Results rank by the lower end of their 95%
// interval, so that a wide interval does not win by luck. A verdict that a run took from the store is not a
// second result: it counts once, where it was reached.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/run_store.h"

namespace hone {

// A run with what its best accepted candidate reached.
struct Standing {
  int64_t run_id = 0;
  std::string created;
  std::string task;
  std::string task_sha256;
  std::string device;
  std::string result;    // see run_result.h; empty while the run goes on
  std::string best_key;  // empty: nothing is accepted, and the rest is not known
  std::string proposer;
  std::string model;
  std::string kind;
  std::string kernel_class;
  double vs_best = 0;
  double ci_low = 0;
  double ci_high = 0;
  double vs_eager = 0;
  // Versions, rule and baselines of the verdict: "torch 2.11.0, Triton 3.5.0, Hone 1.0; baselines eager". The
  // usual rule is not named.
  std::string setting;
  // Where the verdict was taken from, "R1 seed0" or "V12"; empty: it was reached in this run.
  std::string origin;

  bool accepted() const { return !best_key.empty(); }
};

// Results that may be compared, the highest lower end first.
struct StandingGroup {
  std::string task;
  std::string task_sha256;
  std::string device;
  std::string setting;
  std::vector<Standing> runs;  // accepted ones, each verdict once
};

// A task on a device without an accepted candidate: how many runs had which result.
struct UnsolvedTask {
  std::string task;
  std::string device;
  std::string result;  // "kept_pytorch" where any run found that, else the newest run's; empty: still running
  int64_t runs = 0;
  int64_t newest_run = 0;
};

struct Leaderboard {
  std::vector<StandingGroup> groups;  // the highest lower end first
  std::vector<UnsolvedTask> unsolved;
};

// Empty words and device: everything.
Result<Leaderboard> RankTasks(RunStore& store, const std::string& device, const std::string& words);
// Every run of the task, the oldest first; at most the newest `most`.
Result<std::vector<Standing>> TaskHistory(RunStore& store, const std::string& task, int64_t most);
// The accepted ones of `runs`, grouped and ranked.
std::vector<StandingGroup> GroupComparable(const std::vector<Standing>& runs);
// Whether the two intervals overlap: the ranking of the two is then not certain.
bool IntervalsOverlap(const Standing& a, const Standing& b);

}  // namespace hone

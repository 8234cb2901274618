// Which results of a task may be compared, and how they rank. Two speed-ups are comparable if they were
// measured on the same task text and device, with the same versions of Hone and the libraries, the same
// baselines and the same error limit. Results rank by the lower end of their 95% interval, so that a wide
// interval does not win by luck. If runs took a verdict from the store, it counts once, for the run that
// obtained it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/run_store.h"

namespace hone {

// A run with the result of its best accepted candidate.
struct Standing {
  int64_t run_id = 0;
  std::string created;
  std::string task;
  std::string task_sha256;
  std::string device;
  std::string result;    // see run_result.h; empty while the run continues
  std::string best_key;  // empty if nothing is accepted; the rest is then unset
  std::string proposer;
  std::string model;
  std::string kind;
  std::string kernel_class;
  double vs_best = 0;
  double ci_low = 0;
  double ci_high = 0;
  double vs_eager = 0;
  // Versions, limit and baselines of the verdict: "torch 2.11.0, Triton 3.5.0, Hone 1.0; baselines eager".
  // The usual limit is not listed.
  std::string setting;
  // The source of a reused verdict, "R1 seed0" or "V12"; empty if this run obtained it.
  std::string origin;

  bool accepted() const { return !best_key.empty(); }
};

// Comparable results, highest lower end first.
struct StandingGroup {
  std::string task;
  std::string task_sha256;
  std::string device;
  std::string setting;
  std::vector<Standing> runs;  // accepted ones; each verdict appears once
};

// A task without an accepted candidate on a device: how many runs had which result.
struct UnsolvedTask {
  std::string task;
  std::string device;
  std::string
      result;  // "kept_pytorch" if any run has it, else the newest run's result; empty while it continues
  int64_t runs = 0;
  int64_t newest_run = 0;
};

struct Leaderboard {
  std::vector<StandingGroup> groups;  // highest lower end first
  std::vector<UnsolvedTask> unsolved;
};

// Empty words and an empty device select everything.
Result<Leaderboard> RankTasks(RunStore& store, const std::string& device, const std::string& words);
// The newest `most` runs of the task, oldest first.
Result<std::vector<Standing>> TaskHistory(RunStore& store, const std::string& task, int64_t most);
// Groups and ranks the accepted ones of `runs`.
std::vector<StandingGroup> GroupComparable(const std::vector<Standing>& runs);
// Whether the two intervals overlap, which makes the ranking of the two uncertain.
bool IntervalsOverlap(const Standing& a, const Standing& b);

}  // namespace hone

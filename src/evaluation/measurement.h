// The observations of an evaluation; the verdict room draws the conclusions. The parent made all of them,
// except for fields that are marked as reported by a worker.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/finding.h"
#include "base/json.h"
#include "evaluation/compare.h"
#include "evaluation/distribution.h"
#include "evaluation/phase.h"
#include "evaluation/reference_session.h"
#include "evaluation/timing.h"
#include "evaluation/worker.h"

namespace hone {

struct LeafTrial {
  std::string path;
  Distance distance;
  Limit limit;
  double reference_error = 0;    // PyTorch's own error on the same inputs
  bool by_tolerance = false;     // --atol or --rtol is given: `far` decides instead of the limit
  size_t far = 0;                // elements outside the tolerance
  bool by_distribution = false;  // the random draws differ from PyTorch's: DrawComparison decides

  bool OverLimit() const {
    if (by_distribution) return false;
    if (by_tolerance) return far > 0;
    return !(distance.relative <= limit.relative) || !(distance.worst <= limit.worst) ||
           !(distance.scaled <= limit.scaled);
  }
};

struct Trial {
  std::string case_id;
  std::string shape_problem;  // "output[0] has shape [1, 2] where [2, 1] is expected"
  std::string dtype_problem;
  std::string stale_of;       // the earlier case whose answer was returned
  std::string value_problem;  // a Python number that is wrong
  bool input_modified = false;
  std::vector<LeafTrial> leaves;
};

// For a module with random numbers, if a candidate draws other ones under the same seed.
struct DrawComparison {
  int cases = 0;
  int draws = 0;       // of each side, for the task's own inputs
  int statistics = 0;  // number of statistics over all cases
  double pair_s = 0;   // time for one call of each side
  std::string wrong;   // empty if the distributions agree
  // By instance and output: the distances between PyTorch's own draws. No value for outputs without
  // randomness.
  std::vector<std::vector<std::optional<DrawRange>>> ranges;
};

struct Repeats {
  int count = 0;
  int busy = 0;       // those of them with a busy device or busy cores
  int distinct = 0;   // answers that differ bitwise from the first
  double spread = 0;  // largest relative distance to the first answer
  double spread_limit = 0;
};

// Where an evaluation ended early, and why.
struct Stop {
  Phase phase = Phase::kStart;
  WorkerFailure failure;
};

// All launches of one kernel in a call; on a CPU all calls of one of PyTorch's operators, without the time of
// operators that it calls, or the time outside of them.
struct ProfiledKernel {
  std::string name;
  int64_t count = 0;
  double time_us = -1;  // negative: not known (versions before it was kept)
};

// One call as the candidate's own process reports it. None of it is verified.
struct Profile {
  int64_t launches = -1;
  double own_us = 0;
  double library_us = 0;
  std::vector<ProfiledKernel> kernels;  // those that take most of the time, the longest first
};
// The kernels of a profile, from a worker's reply or from a stored record. Names are cut and cleaned, rows
// that are none are left out.
std::vector<ProfiledKernel> ProfiledKernelsFrom(const Json& rows);

// One entry of the contract for later use: what a user may do with the module after the verdict.
enum class ContractState { kHolds, kBroken, kNotApplicable };
const char* ContractStateName(ContractState state);

struct ContractEntry {
  std::string name;  // "load_state_dict", "batch_size", ...
  ContractState state = ContractState::kNotApplicable;
  std::string detail;  // what is broken, or why it was not checked
};

struct Measurement {
  std::vector<Finding> findings;      // what hone lint reports
  std::optional<Finding> refused_by;  // the finding that prevented the file from being run
  std::optional<Stop> stop;
  bool has_class = true;
  std::string class_hint;   // names that the file defines instead of ModelNew
  std::string weights_how;  // "state_dict" or "load_reference"
  std::vector<std::string> weights_missing;
  std::vector<std::string> weights_unexpected;
  std::vector<Trial> trials;
  std::optional<DrawComparison> draws;
  std::optional<Repeats> repeats;
  std::vector<std::string> tampering;  // replaced timers and comparisons
  std::vector<std::string> attempts;   // attempts that the sandbox stopped
  std::optional<Profile> profile;
  std::optional<Timing> timing;
  std::vector<ContractEntry> contract;  // empty if it was not checked
  std::string speed_not_judged;         // why there is no timing although all else passed
  std::vector<std::string> notes;
  bool ahead_once_more = false;  // accepted before, and ahead in one more pair of fresh processes
  std::vector<std::pair<Phase, double>> phases;  // seconds per phase, in order
  double seconds = 0;
  double reference_seconds = 0;  // in the reference's own computation
  double candidate_seconds = 0;
  std::string stdout_tail;
};

// All fields, for `--verbose`, the store and the reports.
Json ToJson(const Measurement& measurement);
Json ToJson(const Distance& distance);
// Seconds for each phase, by its name.
Json PhaseSeconds(const Measurement& measurement);

}  // namespace hone

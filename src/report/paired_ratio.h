// The ratio of two sides that worked on the same tasks, with a 95% interval from a paired bootstrap. Values
// are compared as logarithms, so the ratio is a geometric mean. Each task counts once, however many runs it
// has.
//
// With five tasks or more, the interval is about tasks like these: tasks are resampled with replacement, each
// with its runs. (Resampling the runs within a task too would count their noise twice, once in the task's own
// value.) With fewer tasks that would be meaningless. Then the tasks are fixed, runs are resampled within
// each, and the interval is only about these tasks. The bootstrap of a small sample is too narrow. Two
// corrections widen it: deviations are multiplied by sqrt(n / (n - 1)) for n resampled units, and the
// quantiles are those of Student's t instead of the normal distribution.
// tests/statistics/policy_simulation_test.cpp checks the coverage by simulation.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace hone {

// Values above 0. If `matched`, a[i] and b[i] have the same seed and are drawn together.
struct PairedTask {
  std::vector<double> a;
  std::vector<double> b;
  bool matched = false;

  size_t pairs() const { return a.size() < b.size() ? a.size() : b.size(); }
};

// An interval needs this many tasks, or this many pairs with at least three runs per side of each task.
constexpr size_t kTasksToDraw = 5;
constexpr size_t kLeastPairs = 5;
constexpr size_t kRunsToDraw = 3;

struct PairedRatio {
  double ratio = 1;  // b / a
  // Rounded outwards to two decimals, so that the printed interval is the one behind the decision.
  double low = 0;
  double high = 0;
  enum class About { kNothing, kTheseTasks, kTasksLikeThese };
  About about = About::kNothing;  // kNothing: too few pairs for an interval

  bool has_interval() const { return about != About::kNothing; }
  bool b_is_better() const { return has_interval() && low > 1; }
  bool a_is_better() const { return has_interval() && high < 1; }
};

// Deterministic.
PairedRatio RatioOf(const std::vector<PairedTask>& tasks);
size_t PairsOf(const std::vector<PairedTask>& tasks);
double GeometricMean(const std::vector<double>& values);  // 1 for an empty list

}  // namespace hone

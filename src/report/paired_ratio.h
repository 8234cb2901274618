// The ratio of two sides that worked on the same tasks, with a 95% interval by a paired bootstrap. Values are
// compared as logarithms, so the ratio is a geometric mean; each task counts once, however many runs it has.
//
// With five tasks or more the interval speaks about tasks like these: tasks are drawn again with replacement,
// each with its runs. (Drawing the runs within a task again as well would count their noise twice, once in
// the task's own value.) With fewer tasks that would say next to nothing; the tasks are then held fixed, runs
// are drawn within each, and the interval speaks about these tasks only. The bootstrap of a small sample is
// too narrow. Two corrections widen it: deviations are multiplied by sqrt(n / (n - 1)) for n units drawn, and
// the quantiles are those of Student's t instead of the normal distribution.
// tests/statistics/policy_simulation_test.cpp checks the coverage by simulation.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace hone {

// Values above 0. If `matched`, a[i] and b[i] belong together (they have one seed) and are drawn together.
struct PairedTask {
  std::vector<double> a;
  std::vector<double> b;
  bool matched = false;

  size_t pairs() const { return a.size() < b.size() ? a.size() : b.size(); }
};

// For an interval: so many tasks, or else so many pairs, and at least three runs a side of each task.
constexpr size_t kTasksToDraw = 5;
constexpr size_t kLeastPairs = 5;
constexpr size_t kRunsToDraw = 3;

struct PairedRatio {
  double ratio = 1;  // b / a
  // Rounded outwards to two decimals, so that what is printed is what was decided by.
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
double GeometricMean(const std::vector<double>& values);  // 1 for none

}  // namespace hone

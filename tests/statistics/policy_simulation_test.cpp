// Tests whether the interval of a paired ratio (report/paired_ratio.h) covers the truth, with simulated tasks
// of known true ratio, a thousand times each.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "report/paired_ratio.h"

namespace hone {
namespace {

struct Design {
  std::string name;
  int tasks = 1;
  int runs_a = 1;
  int runs_b = 1;
  bool matched = false;
  double between = 0;  // spread of the ratio between tasks; all as standard deviations of logarithms
  double least = 0.92;
  double most = 0.99;
};

struct Coverage {
  double covered = 0;
  double told = 0;  // how often a side was called better, although the true ratio is 1
};

Coverage Simulate(const Design& design) {
  constexpr int kTimes = 1000;
  std::mt19937_64 source(11);
  std::normal_distribution<double> normal;
  Coverage coverage;
  for (int time = 0; time < kTimes; ++time) {
    std::vector<PairedTask> tasks;
    double truth = 0;  // with few tasks, the interval covers these tasks' own mean
    for (int t = 0; t < design.tasks; ++t) {
      const double level = normal(source);
      const double effect = design.between * normal(source);
      if (design.tasks < static_cast<int>(kTasksToDraw)) truth += effect / design.tasks;
      PairedTask task;
      task.matched = design.matched;
      for (int i = 0; i < std::max(design.runs_a, design.runs_b); ++i) {
        const double shared = design.matched ? 0.3 * normal(source) : 0;
        if (i < design.runs_a) task.a.push_back(std::exp(level + shared + 0.3 * normal(source)));
        if (i < design.runs_b) task.b.push_back(std::exp(level + effect + shared + 0.3 * normal(source)));
      }
      tasks.push_back(std::move(task));
    }
    const PairedRatio ratio = RatioOf(tasks);
    EXPECT_TRUE(ratio.has_interval());
    const bool covers = ratio.low <= std::exp(truth) && std::exp(truth) <= ratio.high;
    coverage.covered += covers ? 1.0 / kTimes : 0;
    coverage.told += ratio.a_is_better() || ratio.b_is_better() ? 1.0 / kTimes : 0;
  }
  return coverage;
}

TEST(PolicyRatio, TheIntervalCoversTheTruthInNineteenOfTwentyCases) {
  const Design designs[] = {
      {"five tasks, a run a side", 5, 1, 1, true, 0.3},
      {"twelve tasks, a run a side", 12, 1, 1, true, 0.3},
      {"five tasks, three runs a side", 5, 3, 3, false, 0.3},
      {"ten tasks that do not differ, four runs a side", 10, 4, 4, false, 0},
      {"one task, five runs a side", 1, 5, 5, false, 0},
      {"one task, ten runs with partners", 1, 10, 10, true, 0},
      {"two tasks, three and six runs", 2, 3, 6, false, 0, 0.94, 1},
  };
  for (const Design& design : designs) {
    const Coverage found = Simulate(design);
    EXPECT_GE(found.covered, design.least) << design.name;
    EXPECT_LE(found.covered, design.most) << design.name;
    if (design.tasks >= static_cast<int>(kTasksToDraw) || design.between == 0) {
      EXPECT_LE(found.told, 0.08) << design.name;
    }
  }
}

}  // namespace
}  // namespace hone

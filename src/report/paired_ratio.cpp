#include "report/paired_ratio.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/ids.h"
#include "base/student.h"

namespace hone {

namespace {

constexpr size_t kDraws = 10000;
constexpr uint64_t kBootstrapSeed = 20;

// The logarithms of one task, original or resampled.
struct TaskLogs {
  std::vector<double> a;
  std::vector<double> b;
  bool matched = false;
  double ratio = 0;  // mean of b minus mean of a
};

double MeanOfLogs(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<TaskLogs> LogsOf(const std::vector<PairedTask>& tasks) {
  std::vector<TaskLogs> logs;
  for (const PairedTask& task : tasks) {
    if (task.pairs() == 0) continue;
    TaskLogs one;
    one.matched = task.matched;
    for (const double value : task.a) one.a.push_back(std::log(value));
    for (const double value : task.b) one.b.push_back(std::log(value));
    one.ratio = MeanOfLogs(one.b) - MeanOfLogs(one.a);
    logs.push_back(std::move(one));
  }
  return logs;
}

double DrawnMean(const std::vector<double>& values, Random* random) {
  double sum = 0;
  for (size_t i = 0; i < values.size(); ++i) sum += values[random->Below(values.size())];
  return sum / static_cast<double>(values.size());
}

// The factor by which deviations of a mean over n drawn values are too small.
double SmallSample(size_t n) {
  return n < 2 ? 0 : std::sqrt(static_cast<double>(n) / static_cast<double>(n - 1));
}

// The task's ratio with its runs resampled. Each side's deviation is corrected by its own number of runs.
double DrawnRatio(const TaskLogs& task, Random* random) {
  if (task.matched) {
    double sum = 0;
    for (size_t i = 0; i < task.a.size(); ++i) {
      const size_t drawn = random->Below(task.a.size());
      sum += task.b[drawn] - task.a[drawn];
    }
    const double deviation = sum / static_cast<double>(task.a.size()) - task.ratio;
    return task.ratio + SmallSample(task.a.size()) * deviation;
  }
  const double of_a = DrawnMean(task.a, random) - MeanOfLogs(task.a);
  const double of_b = DrawnMean(task.b, random) - MeanOfLogs(task.b);
  return task.ratio + SmallSample(task.b.size()) * of_b - SmallSample(task.a.size()) * of_a;
}

// The normal distribution's tail beyond the value that Student's t exceeds with 2.5%. It is the quantile to
// use for a bootstrap, whose distribution is nearly normal.
double TailFor(size_t degrees) {
  return std::erfc(Student95(degrees) / std::sqrt(2.0)) / 2;
}

double OutwardsDown(double value) {
  return std::floor(value * 100) / 100;
}
double OutwardsUp(double value) {
  return std::ceil(value * 100) / 100;
}

}  // namespace

size_t PairsOf(const std::vector<PairedTask>& tasks) {
  size_t pairs = 0;
  for (const PairedTask& task : tasks) pairs += task.pairs();
  return pairs;
}

double GeometricMean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return values.empty() ? 1 : std::exp(sum / static_cast<double>(values.size()));
}

PairedRatio RatioOf(const std::vector<PairedTask>& tasks) {
  PairedRatio found;
  const std::vector<TaskLogs> logs = LogsOf(tasks);
  if (logs.empty()) return found;
  double middle = 0;
  size_t degrees = 0;
  bool runs_tell = true;
  for (const TaskLogs& task : logs) {
    middle += task.ratio / static_cast<double>(logs.size());
    const size_t fewest = std::min(task.a.size(), task.b.size());
    runs_tell = runs_tell && fewest >= kRunsToDraw;
    degrees += task.matched ? task.a.size() - 1 : fewest - 1;
  }
  found.ratio = std::exp(middle);
  const bool draws_tasks = logs.size() >= kTasksToDraw;
  if (!draws_tasks && (!runs_tell || PairsOf(tasks) < kLeastPairs)) return found;
  found.about = draws_tasks ? PairedRatio::About::kTasksLikeThese : PairedRatio::About::kTheseTasks;
  if (draws_tasks) degrees = logs.size() - 1;

  Random random(kBootstrapSeed);
  std::vector<double> drawn(kDraws);
  for (double& mean : drawn) {
    double sum = 0;
    for (const TaskLogs& task : logs)
      sum += draws_tasks ? logs[random.Below(logs.size())].ratio : DrawnRatio(task, &random);
    mean = sum / static_cast<double>(logs.size());
    if (draws_tasks) mean = middle + SmallSample(logs.size()) * (mean - middle);
  }
  std::sort(drawn.begin(), drawn.end());
  const auto rank = static_cast<size_t>(TailFor(degrees) * static_cast<double>(kDraws));
  found.low = std::min(OutwardsDown(std::exp(drawn[rank])), OutwardsDown(found.ratio));
  found.high = std::max(OutwardsUp(std::exp(drawn[kDraws - 1 - rank])), OutwardsUp(found.ratio));
  return found;
}

}  // namespace hone

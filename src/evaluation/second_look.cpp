#include "evaluation/second_look.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "evaluation/trial_judge.h"

namespace hone {

namespace {

// An answer over its limit by at most this factor is checked again. If a single element decides, two samples
// of PyTorch's error are both too small by this factor with probability 1e-5.
constexpr double kChance = 256;
// The same factor after more samples.
constexpr double kLaterChance = 16;
constexpr size_t kFewLooks = 4;
constexpr size_t kMostLooks = 32;
constexpr double kLookSeconds = 20;

// The largest ratio of a trial's errors to their limits.
double TimesOver(const Trial& trial) {
  double most = 0;
  for (const LeafTrial& leaf : trial.leaves)
    if (leaf.OverLimit())
      for (const auto& [error, limit] : {std::pair(leaf.distance.relative, leaf.limit.relative),
                                         {leaf.distance.worst, leaf.limit.worst},
                                         {leaf.distance.scaled, leaf.limit.scaled}})
        most = std::max(most, error > limit ? error / std::max(limit, 1e-300) : 0);
  return most;
}

}  // namespace

bool IsNearlyRight(const Trial& trial) {
  if (!IsBad(trial) || trial.leaves.empty() || !trial.shape_problem.empty() || !trial.dtype_problem.empty() ||
      !trial.value_problem.empty() || trial.input_modified)
    return false;
  return std::all_of(trial.leaves.begin(), trial.leaves.end(),
                     [](const LeafTrial& leaf) {
                       return leaf.distance.non_finite == 0 && leaf.distance.poisoned == 0 &&
                              !leaf.by_tolerance;
                     }) &&
         TimesOver(trial) <= kChance;
}

Result<int> LookAgain(const Truth& truth, const Case& one, const DrawError& draw, Trial* trial) {
  OwnErrors looks;
  const Stopwatch watch;
  while (IsNearlyRight(*trial) && looks.size() < kMostLooks && watch.seconds() < kLookSeconds) {
    if (looks.size() >= kFewLooks && TimesOver(*trial) > kLaterChance) break;
    HONE_ASSIGN_OR_RETURN(std::optional<std::vector<Distance>> drawn, draw());
    if (!drawn || drawn->size() != trial->leaves.size()) break;
    looks.push_back(std::move(*drawn));
    for (size_t i = 0; i < trial->leaves.size(); ++i)
      if (trial->leaves[i].OverLimit()) trial->leaves[i].limit = truth.LimitOf(one, i, looks);
  }
  if (!IsBad(*trial)) trial->stale_of.clear();
  return static_cast<int>(looks.size());
}

}  // namespace hone

#include "report/policy_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/json.h"
#include "base/median.h"
#include "base/text.h"
#include "report/record_facts.h"
#include "store/run_result.h"

namespace hone {

namespace {

// Below this share of the highest cost, rows say little.
constexpr double kLeastShare = 0.02;

struct TaskRuns {
  std::array<std::vector<const PolicyRun*>, 2> runs;
  bool by_seed = false;
};
using RunsByTask = std::map<std::pair<std::string, std::string>, TaskRuns>;

std::string RunLabel(const PolicyRun& one) {
  return fmt::format("R{}", one.run.id);
}

std::string SeedOf(const PolicyRun& one) {
  const std::string seed = GetString(ParsedOrNull(one.run.options), "search_seed");
  return seed == "0" ? "" : seed;
}

// Puts runs with the same seed at the same index, if every run of the smaller side has a partner.
void PairBySeed(TaskRuns* task, std::vector<LeftOutRun>* left_out) {
  const size_t small = task->runs[0].size() <= task->runs[1].size() ? 0 : 1;
  std::vector<const PolicyRun*> partners;
  for (const PolicyRun* one : task->runs[small]) {
    const std::string seed = SeedOf(*one);
    const auto partner =
        std::find_if(task->runs[1 - small].begin(), task->runs[1 - small].end(), [&](const PolicyRun* other) {
          return !seed.empty() && SeedOf(*other) == seed &&
                 std::find(partners.begin(), partners.end(), other) == partners.end();
        });
    if (partner == task->runs[1 - small].end()) return;
    partners.push_back(*partner);
  }
  task->by_seed = true;
  for (const PolicyRun* one : task->runs[1 - small])
    if (std::find(partners.begin(), partners.end(), one) == partners.end())
      left_out->push_back({RunLabel(*one), "no_partner"});
  task->runs[1 - small] = partners;
}

// Runs that count, from tasks of both sides.
RunsByTask Partners(const std::array<const PolicySide*, 2>& sides, std::vector<LeftOutRun>* left_out) {
  RunsByTask all;
  for (size_t side = 0; side < 2; ++side)
    for (const PolicyRun& one : sides[side]->runs) {
      if (CountsInMeans(one.run.result))
        all[{one.run.task, one.run.task_sha256}].runs[side].push_back(&one);
      else
        left_out->push_back({RunLabel(one), one.run.result});
    }
  for (auto task = all.begin(); task != all.end();) {
    auto& runs = task->second.runs;
    if (!runs[0].empty() && !runs[1].empty()) {
      PairBySeed(&task->second, left_out);
      ++task;
      continue;
    }
    for (const auto& side : runs)
      for (const PolicyRun* one : side) left_out->push_back({RunLabel(*one), "other_side"});
    task = all.erase(task);
  }
  return all;
}

PolicyTotals TotalsOf(const PolicySide& side) {
  PolicyTotals totals;
  totals.name = side.name;
  std::vector<double> calls, usd;
  for (const PolicyRun& one : side.runs) {
    ++totals.runs;
    ++totals.results[one.run.result];
    totals.usage.calls += one.usage.calls;
    static_cast<Usage&>(totals.usage) = totals.usage + one.usage;
    totals.seconds += one.run.seconds;
    calls.push_back(static_cast<double>(one.usage.calls));
    usd.push_back(one.usage.cost_usd);
  }
  totals.median_calls = MedianOf(std::move(calls));
  totals.median_usd = MedianOf(std::move(usd));
  return totals;
}

// "2", or "2 | 8" if the runs of a side differ.
template <class Value>
std::string ValuesOf(const PolicySide& side, const Value& value) {
  std::set<std::string> values;
  for (const PolicyRun& one : side.runs) values.insert(value(one.run));
  return Join({values.begin(), values.end()}, " | ");
}

std::vector<ComparedField> SettingsOf(const std::array<const PolicySide*, 2>& sides) {
  std::vector<ComparedField> settings;
  const auto add = [&](const char* id, bool always, const auto& value) {
    ComparedField field{id, {ValuesOf(*sides[0], value), ValuesOf(*sides[1], value)}, false};
    field.differs = field.values[0] != field.values[1];
    if (always || field.differs || Contains(field.values[0], " | ")) settings.push_back(std::move(field));
  };
  add("proposer", true, [](const RunRecord& run) { return run.proposer; });
  add("model", true, [](const RunRecord& run) { return run.model; });
  const auto option = [](const char* name) {
    return [name](const RunRecord& run) {
      const Json options = ParsedOrNull(run.options);
      const Json& value = GetMember(options, name);
      return value.is_string() ? value.get<std::string>() : DumpJson(value);
    };
  };
  add("search", true, option("search"));
  for (const char* name : {"seeds", "repairs", "mend", "analysis", "class_check", "tuning", "tune_trials",
                           "judge_at_most", "patience", "breadth", "replies", "seed_from", "budget"})
    add(name, false, option(name));
  add("device", false, [](const RunRecord& run) { return run.device; });
  return settings;
}

// 1, 2, 5, 10, 20 and so on, up to `most`.
std::vector<double> RoundSteps(double most, double least) {
  std::vector<double> steps;
  if (most <= 0) return steps;
  for (int power = -7; power < 10; ++power)
    for (const int digit : {1, 2, 5}) {
      // 10^-2 * 2 is not exactly 0.02.
      const double step = power < 0 ? digit / std::pow(10.0, -power) : digit * std::pow(10.0, power);
      if (step >= least && step >= kLeastShare * most && step <= most) steps.push_back(step);
    }
  return steps;
}

// Rounds down to two digits, so that the printed value is the one used for comparison.
double TwoDigitsDown(double value) {
  if (value <= 0) return 0;
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1);
  return std::floor(value / unit + 1e-9) * unit;
}

// The cost that three quarters of the runs of both sides reached.
template <class Spent>
double SpentByMost(const RunsByTask& tasks, const Spent& spent) {
  double least = HUGE_VAL;
  for (size_t side = 0; side < 2; ++side) {
    std::vector<double> values;
    for (const auto& [name, task] : tasks)
      for (const PolicyRun* one : task.runs[side]) values.push_back(spent(*one));
    std::sort(values.begin(), values.end());
    if (!values.empty()) least = std::min(least, values[values.size() / 4]);
  }
  return least;
}

// Runs with a known best at this cost. Their partners are dropped with the others.
template <class Known>
TaskRuns KnownRuns(const TaskRuns& task, const Known& known) {
  TaskRuns left;
  left.by_seed = task.by_seed;
  for (size_t side = 0; side < 2; ++side)
    for (size_t i = 0; i < task.runs[side].size(); ++i)
      if (known(*task.runs[side][i]) && (!task.by_seed || known(*task.runs[1 - side][i])))
        left.runs[side].push_back(task.runs[side][i]);
  return left;
}

template <class Best, class Spent>
PolicyPoint PointOf(const RunsByTask& tasks, PolicyPoint::Cost cost, double at, bool headline,
                    const Best& best, const Spent& spent) {
  PolicyPoint point;
  point.cost = cost;
  point.at = at;
  point.headline = headline;
  const auto known = [&](const PolicyRun& run) {
    return cost == PolicyPoint::Cost::kAll || run.run.status == "done" || spent(run) >= at;
  };
  std::vector<PairedTask> paired;
  std::array<std::vector<double>, 2> means;
  for (const auto& [name, all] : tasks) {
    const TaskRuns task = KnownRuns(all, known);
    if (task.runs[0].empty() || task.runs[1].empty()) continue;
    PairedTask one;
    one.matched = task.by_seed;
    for (size_t side = 0; side < 2; ++side) {
      std::vector<double>& values = side == 0 ? one.a : one.b;
      for (const PolicyRun* run : task.runs[side]) {
        values.push_back(best(*run));
        point.spent[side] += spent(*run) >= at ? 1 : 0;
      }
      means[side].push_back(GeometricMean(values));
    }
    paired.push_back(std::move(one));
  }
  point.pairs = PairsOf(paired);
  point.best = {GeometricMean(means[0]), GeometricMean(means[1])};
  point.ratio = RatioOf(paired);
  return point;
}

void AddPoints(const RunsByTask& tasks, PolicyComparison* compared) {
  const auto calls = [](const PolicyRun& one) { return static_cast<double>(one.curve.best.size()); };
  const auto usd = [](const PolicyRun& one) { return one.curve.Dollars(); };
  double most_calls = 0, most_usd = 0, first_usd = HUGE_VAL;
  compared->priced = true;
  for (const auto& [name, task] : tasks)
    for (const auto& side : task.runs)
      for (const PolicyRun* one : side) {
        most_calls = std::max(most_calls, calls(*one));
        most_usd = std::max(most_usd, usd(*one));
        if (!one->curve.usd.empty()) first_usd = std::min(first_usd, one->curve.usd.front());
        compared->priced = compared->priced && one->curve.priced;
      }
  compared->priced = compared->priced && most_usd > 0;
  const auto add = [&](PolicyPoint::Cost cost, std::vector<double> at, double equal, const auto& best,
                       const auto& spent) {
    if (equal > 0) at.push_back(equal);
    std::sort(at.begin(), at.end());
    at.erase(std::unique(at.begin(), at.end()), at.end());
    for (const double one : at) {
      const PolicyPoint point = PointOf(
          tasks, cost, one, one == equal, [&](const PolicyRun& run) { return best(run, one); }, spent);
      if (point.pairs > 0) compared->points.push_back(point);
    }
  };
  add(
      PolicyPoint::Cost::kCalls, RoundSteps(most_calls, 1), std::floor(SpentByMost(tasks, calls)),
      [](const PolicyRun& run, double at) { return run.curve.AfterCalls(at); }, calls);
  if (compared->priced)
    add(
        PolicyPoint::Cost::kDollars, RoundSteps(most_usd, first_usd), TwoDigitsDown(SpentByMost(tasks, usd)),
        [](const PolicyRun& run, double at) { return run.curve.AfterDollars(at); }, usd);
  compared->points.push_back(PointOf(
      tasks, PolicyPoint::Cost::kAll, 0, true, [](const PolicyRun& run) { return run.curve.AtEnd(); }, usd));
}

}  // namespace

PolicyComparison ComparePolicies(const PolicySide& a, const PolicySide& b) {
  const std::array<const PolicySide*, 2> sides = {&a, &b};
  PolicyComparison compared;
  compared.sides = {TotalsOf(a), TotalsOf(b)};
  compared.settings = SettingsOf(sides);
  const RunsByTask tasks = Partners(sides, &compared.left_out);
  compared.tasks = tasks.size();
  for (const auto& [name, task] : tasks) {
    compared.pairs += std::min(task.runs[0].size(), task.runs[1].size());
    compared.by_seed += task.by_seed ? 1 : 0;
    for (const auto& side : task.runs)
      for (const PolicyRun* one : side)
        compared.same_device = compared.same_device && one->run.device == task.runs[0].front()->run.device;
  }
  if (!tasks.empty()) AddPoints(tasks, &compared);
  return compared;
}

}  // namespace hone

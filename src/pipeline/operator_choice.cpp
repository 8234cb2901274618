#include "pipeline/operator_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace hone {

namespace {

constexpr double kForget = 0.9;
// Two verdicts on the same file differ by this much, so a smaller difference is no gain.
constexpr double kWorthHaving = 0.01;
// After this many steps in a row without a reply, the model has nothing more to offer.
constexpr int kSilence = 3;
// A step without a request still takes the judge's time.
constexpr double kLeastCost = 0.5;

double TrustOf(Operator op) {
  switch (op) {
    case Operator::kImprove:
      return 0.20;
    case Operator::kMend:
      return 0.16;
    case Operator::kCombine:
      return 0.20;
    case Operator::kRestart:
      return 0.14;
    case Operator::kTune:
      return 0.10;
  }
  return 0;
}

// The success in the opening of an operator that starts with a new file or repairs one, relative to an even
// chance: 1 if there was no attempt, or if half of the files were right. Mechanical repair counts for the
// file that it repaired.
double OpeningSays(Operator op, const SearchArchive& archive) {
  int tried = 0;
  int right = 0;
  for (const ArchiveMember& one : archive.members) {
    const bool is_new = one.phase == "seed" || one.phase == "algorithm";
    const bool is_repair = one.phase == "seed_repair" || one.phase == "algorithm_repair";
    if (one.step != 0 || !(op == Operator::kRestart ? is_new : op == Operator::kMend && is_repair)) continue;
    ++tried;
    const bool mended =
        std::any_of(archive.members.begin(), archive.members.end(), [&](const ArchiveMember& other) {
          return other.phase == "mended" && other.parent == one.key && other.right;
        });
    right += one.right || mended ? 1 : 0;
  }
  return 2.0 * (1 + right) / (2 + tried);
}

std::vector<Weighted> WithWeights(const std::vector<const ArchiveMember*>& members,
                                  const SearchArchive& archive) {
  std::vector<Weighted> all;
  for (const ArchiveMember* one : members) all.push_back({one, ParentWeight(*one, archive)});
  return all;
}

// Parents of another kind than `first`; if there are none, all others.
std::vector<Weighted> Partners(const std::vector<Weighted>& parents, const ArchiveMember& first) {
  std::vector<Weighted> others, of_another_kind;
  for (const Weighted& one : parents) {
    if (one.member->key == first.key) continue;
    others.push_back(one);
    if (one.member->kind != first.kind) of_another_kind.push_back(one);
  }
  return of_another_kind.empty() ? others : of_another_kind;
}

bool IsPossible(Operator op, const SearchArchive& archive, const RunOptions& options) {
  switch (op) {
    case Operator::kImprove:
      return !Parents(archive).empty();
    case Operator::kCombine:
      return Parents(archive).size() > 1;
    case Operator::kRestart:
      return true;
    case Operator::kMend:
      return options.repairs > 0 && !Mendable(archive).empty();
    case Operator::kTune:
      return options.tuning && !MayBeTuned(archive).empty();
  }
  return false;
}

}  // namespace

std::vector<double> SharedGains(const SearchArchive& archive) {
  std::vector<double> gains;
  for (const SearchStep& step : archive.steps) gains.push_back(step.ended ? step.gain : 0);
  // From the last to the first, so that a chain of repaired candidates passes its share on.
  for (size_t i = archive.steps.size(); i-- > 0;) {
    const SearchStep& step = archive.steps[i];
    if (step.op != Operator::kMend || step.parents.empty() || gains[i] <= 0) continue;
    const int maker = StepOf(step.parents[0]);
    for (size_t j = 0; j < i; ++j)
      if (archive.steps[j].number == maker) {
        gains[j] += gains[i] / 2;
        gains[i] /= 2;
      }
  }
  return gains;
}

std::vector<OperatorScore> ScoreOperators(const SearchArchive& archive, const RunOptions& options) {
  const std::vector<double> gains = SharedGains(archive);
  std::vector<OperatorScore> scores;
  for (const Operator op : kOperators) {
    OperatorScore one{op, 0, 0, IsPossible(op, archive, options)};
    double gained = TrustOf(op) * OpeningSays(op, archive);
    double spent = 1;
    double weight = 1;
    for (size_t i = archive.steps.size(); i-- > 0; weight *= kForget) {
      const SearchStep& step = archive.steps[i];
      if (step.op != op) continue;
      ++one.steps;
      gained += weight * gains[i];
      spent += weight * (step.ended ? std::max(kLeastCost, step.cost) : 1);
    }
    one.score = gained / spent;
    scores.push_back(one);
  }
  return scores;
}

StepChoice ChooseStep(const SearchArchive& archive, const RunOptions& options, int number) {
  StepChoice choice;
  choice.scores = ScoreOperators(archive, options);
  const OperatorScore* best = nullptr;
  for (const OperatorScore& one : choice.scores)
    if (one.possible && (best == nullptr || one.score > best->score)) best = &one;
  choice.op = best->op;  // a restart is always possible
  Random random(options.search_seed ^ (0x9E3779B97F4A7C15ULL * static_cast<uint64_t>(number)));
  const std::vector<Weighted> parents = choice.op == Operator::kMend ? Mendable(archive)
                                        : choice.op == Operator::kTune
                                            ? MayBeTuned(archive)
                                            : WithWeights(Parents(archive), archive);
  const ArchiveMember* first = choice.op == Operator::kRestart ? nullptr : Draw(parents, &random);
  if (first == nullptr) {
    choice.op = Operator::kRestart;
    return choice;
  }
  choice.parents.push_back(first->key);
  if (choice.op != Operator::kCombine) return choice;
  if (const ArchiveMember* second = Draw(Partners(parents, *first), &random))
    choice.parents.push_back(second->key);
  return choice;
}

StepChoice FollowStep(const SearchArchive& archive, const RunOptions& options, const RecordedStep& step) {
  StepChoice choice;
  choice.op = OperatorFromName(step.op);
  choice.parents = step.parents;
  choice.scores = ScoreOperators(archive, options);
  const size_t wanted = choice.op == Operator::kRestart ? 0 : choice.op == Operator::kCombine ? 2 : 1;
  if (choice.parents.size() < wanted) choice.left_out = "the recording does not name its parents";
  for (const std::string& key : choice.parents) {
    const auto parent = std::find_if(archive.members.begin(), archive.members.end(),
                                     [&](const ArchiveMember& one) { return one.key == key; });
    if (!choice.left_out.empty()) break;
    if (parent == archive.members.end())
      choice.left_out = key + " is not in this run";
    else if (parent->right == (choice.op == Operator::kMend))
      choice.left_out = key + (parent->right ? " works here" : " does not work here");
  }
  return choice;
}

int StepsWithoutGain(const SearchArchive& archive) {
  int steps = 0;
  for (size_t i = archive.steps.size(); i-- > 0;) {
    if (archive.steps[i].gain > kWorthHaving) break;
    ++steps;
  }
  return steps;
}

std::string HowSearchGoesOn(const RunOptions& options) {
  const auto count = [](auto number, const char* what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
  };
  if (!options.follow.empty())
    return fmt::format("the search goes on as recorded, for {}", count(options.follow.size(), "step"));
  const Budget& budget = options.budget;
  std::vector<std::string> limits;
  const auto add = [&](bool is_set, std::string text) {
    if (is_set) limits.push_back(std::move(text));
  };
  add(budget.calls > 0, count(budget.calls, "call"));
  add(budget.tokens > 0, count(budget.tokens, "token"));
  add(budget.usd > 0, fmt::format("${:g}", budget.usd));
  add(budget.minutes > 0, fmt::format("{:g} minute{}", budget.minutes, budget.minutes == 1 ? "" : "s"));
  add(budget.evaluations > 0, count(budget.evaluations, "evaluation"));
  return fmt::format(
      "the search goes on and ends after {} in a row without a gain of 1% (--patience){}; --search classic "
      "would end here{}",
      count(options.patience, "step"),
      limits.empty() ? "" : fmt::format(" or when the budget ({}) is spent", Join(limits, ", ")),
      options.tuning ? ", after tuning the best" : "");
}

std::string WhySearchEnds(const SearchArchive& archive, const RunOptions& options) {
  int silent = 0;
  for (size_t i = archive.steps.size(); i-- > 0 && !archive.steps[i].answered;) ++silent;
  if (silent >= std::max(kSilence, options.breadth))
    return fmt::format("the last {} steps got no answer", silent);
  const int without = StepsWithoutGain(archive);
  if (without >= options.patience) return fmt::format("{} steps in a row brought no gain of 1%", without);
  return "";
}

}  // namespace hone

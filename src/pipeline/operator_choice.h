// Chooses the next operator of a population search and its parents: a bandit over the gains in this run, and
// a draw over parents. It is a pure function of the archive, the run's seed and the step's number, so that a
// resumed or replayed run takes the same steps.
//
// Each operator has an estimate of its gain per model call, over the steps that ended:
//
//   score = (p + sum w g) / (1 + sum w c),   w = 0.9^(steps ago)
//
// g is the gain of a step, ln(best after / best before); c its cost in calls; p the prior gain of an
// operator, which is highest for operators that start with working files. For restart and mend, p is
// multiplied by 2 (1 + right) / (2 + tried), where `tried` counts the new files or repairs in the opening and
// `right` the right ones among them. Pending steps count with their cost and no gain. The weights discount
// old steps, so an operator without recent gains returns. The highest score wins; among operators that have
// never been tried, the one with the highest p.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/population.h"

namespace hone {

struct OperatorScore {
  Operator op;
  double score = 0;
  int steps = 0;  // so far
  bool possible = false;
};

struct StepChoice {
  Operator op = Operator::kRestart;
  std::vector<std::string> parents;
  std::vector<OperatorScore> scores;
  std::string left_out = {};  // why nothing is made in this step of a recording; empty: it is
};

// The gain of each step for the operators: a step that repaired a candidate shares its gain with the step
// that had made the candidate.
std::vector<double> SharedGains(const SearchArchive& archive);
std::vector<OperatorScore> ScoreOperators(const SearchArchive& archive, const RunOptions& options);
StepChoice ChooseStep(const SearchArchive& archive, const RunOptions& options, int number);

// The same for a step of a recording that is played back: what was chosen then. Left out if the verdicts of
// this run do not allow it: a parent is missing, or does not work, or works although the step mends it.
StepChoice FollowStep(const SearchArchive& archive, const RunOptions& options, const RecordedStep& step);

// The number of most recent consecutive steps without a gain of at least 1%.
int StepsWithoutGain(const SearchArchive& archive);
// For the console, where the opening ends: what will end the search.
std::string HowSearchGoesOn(const RunOptions& options);
// Why the search has ended; empty while it continues.
std::string WhySearchEnds(const SearchArchive& archive, const RunOptions& options);

}  // namespace hone

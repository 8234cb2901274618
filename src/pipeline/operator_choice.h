// Which operator comes next in a population search, and on which parents: a bandit over what paid in this
// run, and a draw over parents. A pure function of the archive, the run's seed and the number of the step,
// so that a resumed or replayed run takes the same steps.
//
// Each operator has an estimate of its gain per model call, over the steps that ended:
//
//   score = (p + sum w g) / (1 + sum w c),   w = 0.9^(steps ago)
//
// g is the gain of a step, ln(best after / best before); c its cost in calls; p what an operator is trusted
// to gain before it was tried. What begins with files that work is trusted most. For restart and mend p is
// multiplied by 2 (1 + right) / (2 + tried): so many new files, or repairs, came in the opening, and so many
// of them were right. Steps that are under way count with their cost and no gain. The weights forget old
// steps, so an operator that paid nothing for a while comes back. The highest score wins; of operators that
// have never been tried, the one with the highest p.
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

// What each step gained for the operators: a step that mended a candidate shares its gain with the step that
// had made the candidate.
std::vector<double> SharedGains(const SearchArchive& archive);
std::vector<OperatorScore> ScoreOperators(const SearchArchive& archive, const RunOptions& options);
StepChoice ChooseStep(const SearchArchive& archive, const RunOptions& options, int number);

// The same for a step of a recording that is played back: what was chosen then. Left out if the verdicts of
// this run do not allow it: a parent is not here, or does not work, or works although the step mends it.
StepChoice FollowStep(const SearchArchive& archive, const RunOptions& options, const RecordedStep& step);

// How many steps in a row, the last ones, brought no gain worth having (1%).
int StepsWithoutGain(const SearchArchive& archive);
// Why the search is over; empty while it is not.
std::string WhySearchEnds(const SearchArchive& archive, const RunOptions& options);

}  // namespace hone

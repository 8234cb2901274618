// What a recipe is expected to take, from the card and a few measured constants. Rough by intent: it orders
// proposals, and a report prints it beside what was measured.
#pragma once

#include "codegen/recipe.h"

namespace hone {

// One call of the module as a chain of library operators: the card's floor at the share of the ceiling that
// such operators reach, a fixed cost for each of them, and on a GPU one for each step of a recurrent layer.
struct OperatorCosts {
  double per_operator_us = 0;
  double share_of_ceiling = 0.6;
};
double OperatorChainUs(const RecipeContext& context, const OperatorCosts& costs);

// A recurrence in one launch or one parallel region: products at a share of the ceiling, plus the hand-over
// from step to step.
double PersistentUs(const RecipeContext& context, double share_of_ceiling, double per_step_us);

}  // namespace hone

// What a recipe is expected to take, from the card and the device's figures. Rough by intent: it orders
// proposals, and a report prints it beside what was measured.
#pragma once

#include "codegen/recipe.h"

namespace hone {

// One call of the module as a chain of library operators: the card's floor at the share of the ceiling that
// such operators reach, a fixed cost for each of them, and on a GPU one for each step of a recurrent layer.
// `way` is a member of the device file's section "library".
double OperatorChainUs(const RecipeContext& context, const std::string& way);

// A recurrence in one parallel region on a CPU: products at a share of the ceiling, plus the hand-over from
// step to step.
double PersistentUs(const RecipeContext& context);

}  // namespace hone

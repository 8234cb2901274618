// The expected time of a recipe, from the card and the device's figures. It is rough by design: it orders
// proposals, and reports print it beside the measured time.
#pragma once

#include "codegen/recipe.h"

namespace hone {

// One call of the module as a chain of library operators: the card's floor divided by the share of the peak
// that such operators reach, a fixed cost for each operator, and on a GPU for each step of a recurrent layer.
// `way` is a member of the device file's section "library".
double OperatorChainUs(const RecipeContext& context, const std::string& way);

// A recurrence in one parallel region on a CPU: products at a share of the peak, plus a synchronisation per
// step.
double PersistentUs(const RecipeContext& context);

}  // namespace hone

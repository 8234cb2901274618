#include "codegen/cost.h"

#include <algorithm>

namespace hone {

namespace {

// cuDNN launches every step of every layer and direction: 2.5 to 3.9 us each in a CUDA graph on an H200,
// whatever the FLOPs say.
constexpr double kCudnnStepUs = 2.6;

double CudnnStepsUs(const RecipeContext& context) {
  if (!context.on_gpu()) return 0;
  double steps = 0;
  for (const RecurrentModule& module : context.plan.modules)
    if (!module.cell)
      steps += static_cast<double>(module.steps() * module.num_layers * (module.bidirectional ? 2 : 1) *
                                   std::max<int64_t>(1, module.calls));
  return steps * kCudnnStepUs;
}

}  // namespace

double OperatorChainUs(const RecipeContext& context, const OperatorCosts& costs) {
  const Card& card = context.inputs.card;
  if (card.floor_us <= 0) return 0;
  const int64_t operators = card.launches > 0 ? card.launches : card.operator_calls();
  return card.floor_us / costs.share_of_ceiling + static_cast<double>(operators) * costs.per_operator_us +
         CudnnStepsUs(context);
}

double PersistentUs(const RecipeContext& context, double share_of_ceiling, double per_step_us) {
  const Card& card = context.inputs.card;
  if (card.floor_us <= 0) return 0;
  double steps = 0;
  for (const RecurrentModule& module : context.plan.modules)
    if (!module.cell)
      steps += static_cast<double>(module.steps() * module.num_layers * std::max<int64_t>(1, module.calls));
  if (context.plan.loop && !card.inputs.empty()) {
    const TimeLoop& loop = *context.plan.loop;
    const auto axis = static_cast<size_t>(loop.time_axis);
    if (axis < card.inputs[0].shape.size()) steps += static_cast<double>(card.inputs[0].shape[axis]);
  }
  return card.floor_us / share_of_ceiling + steps * per_step_us;
}

}  // namespace hone

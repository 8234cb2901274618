#include "codegen/cost.h"

#include <algorithm>

namespace hone {

namespace {

// cuDNN launches every step of every layer and direction, whatever the FLOPs are.
double CudnnStepsUs(const RecipeContext& context) {
  if (!context.on_gpu()) return 0;
  double steps = 0;
  for (const RecurrentModule& module : context.plan.modules)
    if (!module.cell)
      steps += static_cast<double>(module.steps() * module.num_layers * (module.bidirectional ? 2 : 1) *
                                   std::max<int64_t>(1, module.calls));
  return steps * context.costs.gpu.cudnn.beside_us;
}

}  // namespace

double OperatorChainUs(const RecipeContext& context, const std::string& way) {
  const LibraryCosts& library = context.on_gpu() ? context.costs.gpu.library : context.costs.cpu.library;
  const auto costs = library.find(way);
  const Card& card = context.inputs.card;
  if (card.library_us <= 0 || costs == library.end()) return 0;
  const int64_t operators = card.launches > 0 ? card.launches : card.operator_calls();
  return card.library_us / costs->second.share + static_cast<double>(operators) * costs->second.operator_us +
         CudnnStepsUs(context);
}

double PersistentUs(const RecipeContext& context) {
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
  return card.floor_us / context.costs.cpu.persistent_share + steps * context.costs.cpu.persistent_step_us;
}

}  // namespace hone

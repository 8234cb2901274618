#include "evaluation/trial_plan.h"

namespace hone {

std::vector<PlannedTrial> PlanTrials(const Truth& truth, size_t most) {
  std::vector<const Case*> order;
  for (size_t round = 0; round < truth.cases.size(); ++round)
    for (size_t instance = 0; instance < truth.instances.size(); ++instance) {
      size_t seen = 0;
      for (const Case& one : truth.cases)
        if (one.instance == instance && one.change.empty() && seen++ == round) order.push_back(&one);
    }
  const size_t repeated = order.size();
  order.push_back(&truth.cases[0]);
  for (const Case& one : truth.cases)
    if (!one.change.empty()) order.push_back(&one);
  if (order.size() > most) order.resize(most);

  std::vector<PlannedTrial> plan;
  for (size_t i = 0; i < order.size(); ++i) {
    const Case& one = *order[i];
    const bool shared = i != repeated && one.variant.empty() && one.change.empty();
    plan.push_back({&one, i == repeated ? "again" : shared ? "trial" : one.id, shared && i > 0});
  }
  return plan;
}

}  // namespace hone

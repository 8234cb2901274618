#include "evaluation/trial_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone {
namespace {

using testing::ElementsAre;

Truth TwoInstances() {
  Truth truth;
  truth.instances.resize(2);
  auto add = [&](const char* id, size_t instance, const char* variant, const char* change) {
    Case one;
    one.id = id;
    one.instance = instance;
    one.variant = variant;
    one.change = change;
    truth.cases.push_back(std::move(one));
  };
  add("default#1", 0, "", "");
  add("default#2", 0, "", "");
  add("stress#1", 1, "", "");
  add("variant long", 0, "long", "");
  add("changed by shift", 0, "", "shift");
  return truth;
}

std::vector<std::string> InWords(const std::vector<PlannedTrial>& plan) {
  std::vector<std::string> told;
  for (const PlannedTrial& trial : plan)
    told.push_back(trial.one->id + " in " + trial.buffer + (trial.in_place ? ", over it" : ""));
  return told;
}

TEST(PlanTrials, InstancesAlternateInTheSameBuffer) {
  EXPECT_THAT(InWords(PlanTrials(TwoInstances(), SIZE_MAX)),
              ElementsAre("default#1 in trial", "stress#1 in trial, over it", "default#2 in trial, over it",
                          "variant long in variant long", "default#1 in again",
                          "changed by shift in changed by shift"));
}

TEST(PlanTrials, AQuickLookTakesTheFirstOnes) {
  EXPECT_THAT(InWords(PlanTrials(TwoInstances(), 2)),
              ElementsAre("default#1 in trial", "stress#1 in trial, over it"));
}

}  // namespace
}  // namespace hone

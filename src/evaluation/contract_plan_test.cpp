#include "evaluation/contract_plan.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

constexpr const char* kEntries[] = {"weights_through_data", "weights_in_place",   "load_state_dict",
                                    "batch_size",           "deepcopy",           "pickle",
                                    "global_state",         "train_and_gradients"};

TEST(ContractPlan, TriesEverythingOnALargeTaskWithMemory) {
  const ContractSizes large = {4e9, 4e9, 1e9, 120e9, 0.003};
  for (const char* entry : kEntries) EXPECT_EQ(WhyNotTried(entry, large), "") << entry;
  EXPECT_EQ(TrainingBatch(1024, large), 32);
  EXPECT_EQ(TrainingBatch(1024, {1e6, 1e6, 0, 1e9, 0.1}), 1024);
  EXPECT_EQ(TrainingBatch(2, {4e9, 4e9, 0, 1e9, 0.1}), 1);
}

TEST(ContractPlan, SaysForEachEntryWhyItIsNotTried) {
  const ContractSizes slow = {1e6, 1e6, 1e6, 8e9, 0.5};
  int tried = 0;
  for (const char* entry : kEntries) {
    const std::string why = WhyNotTried(entry, slow);
    tried += why.empty() ? 1 : 0;
    EXPECT_TRUE(why.empty() || why.find("a call takes") != std::string::npos) << why;
  }
  EXPECT_EQ(tried, 4);  // the weights and the global state

  const ContractSizes heavy = {1e6, 1e6, 3e9, 40e9, 0.01};
  EXPECT_EQ(WhyNotTried("load_state_dict", heavy), "");
  EXPECT_NE(WhyNotTried("pickle", heavy).find("of weights would go through the host"), std::string::npos);

  const ContractSizes tight = {3e9, 1e9, 0, 6e9, 0.01};
  for (const char* entry : kEntries)
    EXPECT_NE(WhyNotTried(entry, tight).find("5.6 GiB is free"), std::string::npos)
        << WhyNotTried(entry, tight);
}

}  // namespace
}  // namespace hone

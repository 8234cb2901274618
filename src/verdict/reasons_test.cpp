#include "verdict/reasons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace hone {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

TEST(Reasons, EveryNameIsThereOnce) {
  std::set<std::string> names;
  size_t count = 0;
  for (const Decision decision : {Decision::kAccepted, Decision::kRejected, Decision::kNoDifference,
                                  Decision::kCannotJudge, Decision::kInconclusive})
    for (const std::string& name : ReasonNames(decision)) {
      names.insert(name);
      ++count;
    }
  EXPECT_EQ(names.size(), count);
  EXPECT_EQ(count, static_cast<size_t>(Reason::kMachineBusy) + 1) << "a reason without a decision";
}

TEST(Reasons, ATaskThatCannotJudgeAccusesNobody) {
  for (const std::string& name : ReasonNames(Decision::kCannotJudge))
    EXPECT_THAT(RejectReasons(), Not(Contains(name)));
  EXPECT_THAT(ReasonNames(Decision::kInconclusive), ElementsAre("machine-busy"));
  EXPECT_STREQ(NameOf(DecisionOf(Reason::kBlindInput)), "cannot_judge");
  EXPECT_STREQ(NameOf(DecisionOf(Reason::kMachineBusy)), "inconclusive");
  EXPECT_STREQ(NameOf(DecisionOf(Reason::kSlower)), "rejected");
}

}  // namespace
}  // namespace hone

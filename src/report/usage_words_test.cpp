#include "report/usage_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "report/report_fixture.h"

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Usage Billed() {
  Usage usage;
  usage.prompt_tokens = 2000;
  usage.completion_tokens = 900;
  usage.cost_usd = 0.0412;
  usage.price_known = true;
  usage.cached_tokens = 1200;
  usage.cached_usd = 0.0006;
  usage.reasoning_tokens = 500;
  usage.reasoning_usd = 0.0125;
  return usage;
}

TEST(UsageWords, PartsAreToldWithWhatTheyCostAndZeroPartsAreNot) {
  EXPECT_EQ(PartsOf(Billed()), "1,200 cached ($0.0006), 500 reasoning ($0.0125)");
  EXPECT_EQ(UsageWords(Billed()),
            "2,000 in, 900 out, $0.0412; of these 1,200 cached ($0.0006), 500 reasoning ($0.0125)");
  Usage plain;
  plain.prompt_tokens = 20;
  EXPECT_EQ(PartsOf(plain), "");
  EXPECT_EQ(UsageWords(plain), "20 in, 0 out, price not known");
}

TEST(UsageWords, ARecordThatKeptNoShareOfTheCostTellsTheTokensAlone) {
  Usage old = Billed();
  old.cached_usd = old.reasoning_usd = 0;
  EXPECT_EQ(PartsOf(old), "1,200 cached, 500 reasoning");
}

TEST(UsageWords, ATableHasAColumnForAPartThatAnyRowHas) {
  Usage none;
  EXPECT_THAT(PartColumns(Billed()), ElementsAre("cached", "reasoning"));
  EXPECT_THAT(PartCells(none, Billed()), ElementsAre("", ""));
  EXPECT_THAT(PartCells(Billed(), Billed()), ElementsAre("1,200 ($0.0006)", "500 ($0.0125)"));
  EXPECT_THAT(PartColumns(none), ElementsAre());
}

TEST(UsageWords, JsonHasThePartsWhereOneIsNotZero) {
  UsageTotals totals;
  EXPECT_FALSE(UsageJson(totals).contains("cached_tokens"));
  EXPECT_TRUE(UsageJson(totals).contains("prompt_tokens"));
  static_cast<Usage&>(totals) = Billed();
  const OrderedJson json = UsageJson(totals);
  EXPECT_EQ(json["cached_tokens"], 1200);
  EXPECT_EQ(json["cache_write_tokens"], 0);
  EXPECT_DOUBLE_EQ(json["reasoning_usd"].get<double>(), 0.0125);
}

TEST(UsageWords, ARunThatWasBilledByPartsSaysSoInTextAndOthersAreAsTheyWere) {
  RunData data = FixtureRun();
  data.story.calls = data.calls;
  const std::string before = RunText(data.story, kOneLine, true);
  EXPECT_THAT(before, Not(HasSubstr("of these")));
  EXPECT_THAT(before, Not(HasSubstr("reasoning")));
  EXPECT_THAT(before, HasSubstr("model calls"));
  static_cast<Usage&>(data.story.calls[1]) = Billed();
  static_cast<Usage&>(data.story.usage) = Billed();
  const std::string text = RunText(data.story, kOneLine, true);
  EXPECT_THAT(text, HasSubstr("of these      1,200 cached ($0.0006), 500 reasoning ($0.0125)"));
  EXPECT_THAT(text, HasSubstr("cached"));
  EXPECT_THAT(text, HasSubstr("1,200 ($0.0006)  500 ($0.0125)"));
  EXPECT_THAT(RunText(data.story, kOneLine, false), Not(HasSubstr("model calls")));
}

}  // namespace
}  // namespace hone

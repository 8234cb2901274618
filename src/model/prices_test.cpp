#include "model/prices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone {
namespace {

using testing::HasSubstr;

TEST(PriceTable, TakesTheLongestPrefixThatIsAWholeName) {
  struct Row {
    const char* model;
    double input;  // below 0: unknown
  };
  const Row rows[] = {
      {"gpt-5", 1.25},
      {"gpt-5-2025-08-07", 1.25},
      {"gpt-5-mini-2025-08-07", 0.25},
      {"gpt-5.99-future", -1},
      {"claude-opus-5", 5},
      {"claude-opus-5-5", 4},
      {"openai/gpt-4o-mini", 0.15},
      {"o3-mini", 1.1},
      {"my-own-finetune", -1},
      {"o30", -1},
      {"", -1},
  };
  const PriceTable table = PriceTable::BuiltIn();
  for (const Row& row : rows) {
    SCOPED_TRACE(row.model);
    const auto price = table.Find(row.model);
    EXPECT_EQ(price.has_value(), row.input >= 0);
    EXPECT_DOUBLE_EQ(price ? price->input_usd : -1, row.input);
  }
}

TEST(PriceTable, ChargesBothDirections) {
  Usage usage;
  usage.prompt_tokens = 1'000'000;
  usage.completion_tokens = 500'000;
  PriceTable::BuiltIn().Charge("gpt-5", usage);
  EXPECT_TRUE(usage.price_known);
  EXPECT_DOUBLE_EQ(usage.cost_usd, 1.25 + 5);
  PriceTable::BuiltIn().Charge("nobody-knows-me", usage);
  EXPECT_FALSE(usage.price_known);
  EXPECT_DOUBLE_EQ(usage.cost_usd, 0);
}

TEST(PriceTable, ChargesWhatWasCachedAtItsOwnPrice) {
  struct Row {
    const char* model;
    int64_t cached;
    int64_t written;
    double usd;  // for a prompt of a million tokens
  };
  const Row rows[] = {
      {"claude-opus-5", 0, 0, 5},
      {"claude-opus-5", 600'000, 0, 0.4 * 5 + 0.6 * 0.5},
      {"claude-opus-5", 0, 1'000'000, 6.25},
      {"claude-opus-5", 600'000, 400'000, 0.6 * 0.5 + 0.4 * 6.25},
      {"gpt-5", 600'000, 400'000, 0.4 * 1.25 + 0.6 * 0.125},  // writing has no separate price
      {"qwen-max", 600'000, 0, 1.6},                          // nor does reading
      {"gpt-5", 9'000'000, 9'000'000, 0.125},                 // no part exceeds the total
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.model);
    Usage usage;
    usage.prompt_tokens = 1'000'000;
    usage.cached_tokens = row.cached;
    usage.cache_write_tokens = row.written;
    PriceTable::BuiltIn().Charge(row.model, usage);
    EXPECT_NEAR(usage.cost_usd, row.usd, 1e-9);
  }
}

TEST(PriceTable, TellsWhatTheCachedAndTheThoughtPartsCost) {
  Usage usage;
  usage.prompt_tokens = 1'000'000;
  usage.completion_tokens = 400'000;
  usage.cached_tokens = 600'000;
  usage.cache_write_tokens = 100'000;
  usage.reasoning_tokens = 300'000;
  PriceTable::BuiltIn().Charge("claude-opus-5", usage);
  EXPECT_NEAR(usage.cached_usd, 0.6 * 0.5, 1e-9);
  EXPECT_NEAR(usage.cache_write_usd, 0.1 * 6.25, 1e-9);
  EXPECT_NEAR(usage.reasoning_usd, 0.3 * 25, 1e-9);
  EXPECT_NEAR(usage.cost_usd, 0.3 * 5 + 0.6 * 0.5 + 0.1 * 6.25 + 0.4 * 25, 1e-9);
  usage.reasoning_tokens = 9'000'000;
  PriceTable::BuiltIn().Charge("claude-opus-5", usage);
  EXPECT_NEAR(usage.reasoning_usd, 0.4 * 25, 1e-9) << "more than the whole reply";
  PriceTable::BuiltIn().Charge("nobody-knows-me", usage);
  EXPECT_DOUBLE_EQ(usage.cached_usd + usage.cache_write_usd + usage.reasoning_usd, 0);
}

class PriceFile : public testing::Test {
 protected:
  fs::path Write(const std::string& text) {
    EXPECT_TRUE(WriteFileAtomic(folder_->path() / "prices.json", text).ok());
    return folder_->path() / "prices.json";
  }
  Result<TempFolder> folder_ = TempFolder::Make("hone-prices-test");
  PriceTable table_ = PriceTable::BuiltIn();
};

TEST_F(PriceFile, ComesBeforeTheBuiltInTable) {
  ASSERT_TRUE(
      table_.Override(Write(R"({"gpt": {"input": 7, "output": 8}, "local-": {"input": 0, "output": 0}})"))
          .ok());
  EXPECT_DOUBLE_EQ(table_.Find("gpt-5-mini")->input_usd, 7);
  EXPECT_DOUBLE_EQ(table_.Find("local-llama")->output_usd, 0);
  EXPECT_DOUBLE_EQ(table_.Find("o3")->input_usd, 2);
  ASSERT_TRUE(
      table_.Override(Write(R"({"x": {"input": 4, "output": 8, "cached": 1, "cache_write": 5}})")).ok());
  EXPECT_DOUBLE_EQ(table_.Find("x")->cached_usd, 1);
  EXPECT_DOUBLE_EQ(table_.Find("x")->cache_write_usd, 5);
}

TEST_F(PriceFile, ThatIsBrokenIsRefusedWithTheRightForm) {
  for (const char* text :
       {"", "[]", R"({"gpt": 7})", R"({"gpt": {"input": 1}})", R"({"gpt": {"input": -1, "output": 1}})"}) {
    SCOPED_TRACE(text);
    const Status status = table_.Override(Write(text));
    ASSERT_FALSE(status.ok());
    EXPECT_THAT(status.error().message, HasSubstr("\"model-prefix\""));
  }
  EXPECT_DOUBLE_EQ(table_.Find("gpt-5")->input_usd, 1.25);
}

}  // namespace
}  // namespace hone

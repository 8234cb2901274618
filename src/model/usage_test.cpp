#include "model/usage.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/text.h"

namespace hone {
namespace {

// True counts are those of OpenAI's o200k_base and DeepSeek V3 vocabularies.
TEST(EstimateTokens, IsNearRealTokenizers) {
  struct Row {
    const char* text;
    int o200k;
    int deepseek;
  };
  const Row rows[] = {
      {"Make this PyTorch module faster and keep every result the same. Reply with one block of Python code.",
       21, 22},
      {"import torch\nimport torch.nn as nn\n\nclass ModelNew(nn.Module):\n    def __init__(self, "
       "input_size, hidden_size):\n        super().__init__()\n        self.gru = nn.GRU(input_size, "
       "hidden_size, num_layers=6)\n\n    def forward(self, x, h0):\n        out, _ = self.gru(x, h0)\n      "
       "  return out\n",
       79, 83},
      {"@triton.jit\ndef add_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):\n    pid = "
       "tl.program_id(axis=0)\n    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)\n    mask = offsets "
       "< n_elements\n    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)\n",
       85, 94},
      {"{\"worth_optimizing\": true, \"bottleneck\": \"launch overhead\", \"expected_speedup\": 2.5, "
       "\"kernel_type\": \"persistent\"}",
       34, 37},
      {"error: max relative difference 0.000412 at [3, 127, 64], limit 2.38e-07 (wrong-output)", 32, 32},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    const double estimate = static_cast<double>(EstimateTokens(row.text));
    EXPECT_GE(estimate, 0.85 * std::min(row.o200k, row.deepseek));
    EXPECT_LE(estimate, 1.35 * std::max(row.o200k, row.deepseek));
  }
}

TEST(EstimateTokens, OfNothingIsNothing) {
  EXPECT_EQ(EstimateTokens(""), 0);
}

TEST(TokenCounter, CountsTheSameHoweverTextIsCut) {
  const std::string text = "class HTTPServer2:\n    x_value = 12345 + caf\xc3\xa9  # a  comment\n\n";
  for (size_t size = 1; size < text.size(); ++size) {
    TokenCounter counter;
    for (size_t at = 0; at < text.size(); at += size) counter.Add(std::string_view(text).substr(at, size));
    EXPECT_EQ(counter.count(), EstimateTokens(text)) << "pieces of " << size;
  }
}

TEST(Usage, IsToldUnderTheNamesOfTheStoreAndReadBack) {
  const OrderedJson json = ToJson(Usage{11, 22, true, 0.5, true, 7, 2, 3, 0.25, 0.125, 0.0625});
  EXPECT_EQ(
      DumpJson(json),
      R"({"prompt_tokens":11,"completion_tokens":22,"estimated":true,"cost_usd":0.5,"price_known":true,"cached_tokens":7,"cache_write_tokens":2,"reasoning_tokens":3,"cached_usd":0.25,"cache_write_usd":0.125,"reasoning_usd":0.0625})");
  EXPECT_EQ(ToJson(UsageFromJson(Json(json))), json);
  EXPECT_EQ(ToJson(UsageFromJson(Json{{"prompt_tokens", "many"}})), ToJson(Usage()));
}

TEST(Usage, OfTwoExchangesHasAKnownPriceOnlyWhenBothHave) {
  const Usage known{10, 20, false, 0.5, true};
  const Usage unknown{1, 2, true, 0, false};
  const Usage sum = known + unknown;
  EXPECT_EQ(sum.prompt_tokens, 11);
  EXPECT_EQ(sum.completion_tokens, 22);
  EXPECT_TRUE(sum.estimated);
  EXPECT_FALSE(sum.price_known);
  EXPECT_DOUBLE_EQ((known + known).cost_usd, 1.0);
  EXPECT_TRUE((known + known).price_known);
}

}  // namespace
}  // namespace hone

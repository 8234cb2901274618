#include "evaluation/answer_form.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

Json Leaf(int64_t elements, int64_t address) {
  return {{"kind", "tensor"}, {"dtype", "float32"},    {"shape", Json::array({elements})},
          {"offset", 0},      {"bytes", 4 * elements}, {"address", address}};
}

TEST(ReadForms, NumbersBelongToTheirCalls) {
  const std::vector<AnswerForm> forms = ReadForms(*ParseJson("[[1, 2.5], [], [3]]"), Json(), 3);
  ASSERT_EQ(forms.size(), 3U);
  EXPECT_EQ(forms[0].numbers, (std::vector<double>{1, 2.5}));
  EXPECT_TRUE(forms[1].numbers.empty());
  EXPECT_EQ(forms[2].numbers, (std::vector<double>{3}));
  EXPECT_EQ(forms[0].other, nullptr);
}

TEST(ReadForms, AnAnswerOfAnotherFormIsDescribedWithItsAddresses) {
  Json tree = {{"kind", "dict"}, {"keys", {"a", "b"}}, {"items", Json::array({Leaf(3, 64), Leaf(5, 128)})}};
  const std::vector<AnswerForm> forms = ReadForms(Json(), Json::array({Json::array({1, tree})}), 2);
  EXPECT_EQ(forms[0].other, nullptr);
  ASSERT_NE(forms[1].other, nullptr);
  EXPECT_FALSE(forms[1].lost);
  EXPECT_EQ(forms[1].other->leaves[1].shape, (std::vector<int64_t>{5}));
  EXPECT_EQ(forms[1].addresses, (std::vector<uint64_t>{64, 128}));
}

TEST(ReadForms, WhatIsToldWronglyIsLostAndNothingElse) {
  Json lying = Leaf(3, 64);
  lying["bytes"] = 1 << 20;
  const Json odd =
      Json::array({Json::array({0, lying}), Json::array({7, Leaf(1, 1)}), Json("no"), Json::array({"x", 1})});
  const std::vector<AnswerForm> forms = ReadForms(Json("many"), odd, 2);
  EXPECT_TRUE(forms[0].lost);
  EXPECT_FALSE(forms[1].lost);
  EXPECT_EQ(forms[1].other, nullptr);
}

}  // namespace
}  // namespace hone

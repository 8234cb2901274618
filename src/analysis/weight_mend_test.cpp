// Tests the mechanical repair of weights under other names: the reference's entry for each own entry, and
// ambiguous cases, which are left alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/mend.h"
#include "base/text.h"

namespace hone {
namespace {

using testing::HasSubstr;

std::string ModuleText(const std::string& name, const std::string& state) {
  return "import torch\nimport torch.nn as nn\n\n\nclass " + name +
         "(nn.Module):\n    def __init__(self, a, b):\n        super().__init__()\n        " +
         ReplaceAll(state, "\n", "\n        ") + "\n\n    def forward(self, x):\n        return x\n";
}

std::string MendWeightsOf(const std::string& reference, const std::string& own) {
  LintOptions options;
  options.task_text = ModuleText("Model", reference) + "\n\ndef get_init_inputs():\n    return [8, 8]\n";
  const std::string file = ModuleText("ModelNew", own);
  const MendedSource mended = MendSource("case.py", file, options);
  EXPECT_EQ(MendSource("case.py", mended.text, options).text, mended.text);
  EXPECT_EQ(mended.changed(), mended.text != file);
  return mended.changed() ? mended.text : "";
}

// own <- reference, as load_reference copies it.
std::string Copies(const std::string& own, const std::string& reference) {
  return "own[\"" + own + "\"].copy_(state_dict[\"" + reference + "\"])";
}

std::string ParameterText(const std::string& name, const std::string& shape) {
  return "self." + name + " = nn.Parameter(torch.zeros(" + shape + "))";
}

// Layers of equal width: only the shapes of biases and weights differ.
std::string FlatGru(const std::string& prefix) {
  std::vector<std::string> lines;
  for (const char* layer : {"l0", "l1"}) {
    for (const char* part : {"weight_ih_", "weight_hh_"})
      lines.push_back(ParameterText(prefix + part + layer, "3 * b, b"));
    for (const char* part : {"bias_ih_", "bias_hh_"})
      lines.push_back(ParameterText(prefix + part + layer, "3 * b"));
  }
  return Join(lines, "\n");
}

TEST(MendWeights, ALayeredGruIsMatchedByTheEndsOfItsNames) {
  const std::string mended = MendWeightsOf("self.gru = nn.GRU(a, b, 2)", FlatGru(""));
  for (const char* name : {"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0", "weight_ih_l1",
                           "weight_hh_l1", "bias_ih_l1", "bias_hh_l1"})
    EXPECT_THAT(mended, HasSubstr(Copies(name, std::string("gru.") + name)));
}

TEST(MendWeights, AnUnderscoreMayStandForADot) {
  const std::string mended = MendWeightsOf("self.gru = nn.GRU(a, b, 2)", FlatGru("gru_"));
  EXPECT_THAT(mended, HasSubstr(Copies("gru_weight_hh_l1", "gru.weight_hh_l1")));
  EXPECT_THAT(mended, HasSubstr(Copies("gru_bias_ih_l0", "gru.bias_ih_l0")));
}

TEST(MendWeights, AModuleUnderAnotherNameIsMatchedByTheLastPartsOfItsNames) {
  const std::string mended = MendWeightsOf("self.gru = nn.GRU(a, b, 2)", "self.rnn = nn.GRU(a, b, 2)");
  EXPECT_THAT(mended, HasSubstr(Copies("rnn.weight_hh_l1", "gru.weight_hh_l1")));
  EXPECT_THAT(mended, HasSubstr(Copies("rnn.bias_hh_l0", "gru.bias_hh_l0")));
}

TEST(MendWeights, TwoLinearsOfOneShapeAreToldApartByTheirNames) {
  const std::string mended =
      MendWeightsOf("self.up = nn.Linear(a, b)\nself.down = nn.Linear(a, b)",
                    Join({ParameterText("down_weight", "b, a"), ParameterText("up_weight", "b, a"),
                          ParameterText("up_bias", "b"), ParameterText("down_bias", "b")},
                         "\n"));
  EXPECT_THAT(mended, HasSubstr(Copies("down_weight", "down.weight")));
  EXPECT_THAT(mended, HasSubstr(Copies("up_weight", "up.weight")));
  EXPECT_THAT(mended, HasSubstr(Copies("up_bias", "up.bias")));
  EXPECT_THAT(mended, HasSubstr(Copies("down_bias", "down.bias")));
}

TEST(MendWeights, WhatTheNamesLeaveIsMatchedByItsShape) {
  // `weight` may end up.weight and down.weight, but down has its own already.
  const std::string mended = MendWeightsOf("self.up = nn.Linear(a, b)\nself.down = nn.Linear(a, b)",
                                           Join({std::string("self.down = nn.Linear(a, b)"),
                                                 ParameterText("w", "b, a"), ParameterText("bias", "b")},
                                                "\n"));
  EXPECT_THAT(mended, HasSubstr(Copies("down.weight", "down.weight")));
  EXPECT_THAT(mended, HasSubstr(Copies("w", "up.weight")));
  EXPECT_THAT(mended, HasSubstr(Copies("bias", "up.bias")));
}

TEST(MendWeights, WhatCouldBeEitherIsLeftAlone) {
  const std::string reference = "self.up = nn.Linear(a, b)\nself.down = nn.Linear(a, b)";
  EXPECT_EQ(MendWeightsOf(reference, "self.first = nn.Linear(a, b)\nself.second = nn.Linear(a, b)"), "");
  EXPECT_EQ(MendWeightsOf(reference, Join({ParameterText("w1", "b, a"), ParameterText("w2", "b, a"),
                                           ParameterText("b1", "b"), ParameterText("b2", "b")},
                                          "\n")),
            "");
  // One name fits two of the reference's, or two names fit one.
  EXPECT_EQ(MendWeightsOf(reference, Join({ParameterText("weight", "b, a"), ParameterText("w2", "b, a"),
                                           ParameterText("up_bias", "b"), ParameterText("down_bias", "b")},
                                          "\n")),
            "");
  EXPECT_EQ(MendWeightsOf("self.fc = nn.Linear(a, b)",
                          Join({ParameterText("w1", "b, a"), ParameterText("w2", "b, a")}, "\n")),
            "")
      << "both fit the one weight";
  EXPECT_EQ(
      MendWeightsOf("self.a_b = nn.Linear(a, b, bias=False)\nself.c = nn.Linear(a, b, bias=False)",
                    Join({ParameterText("a_b_weight", "b, a"), ParameterText("weight", "a, a + 1")}, "\n")),
      "")
      << "a shape that the reference does not have";
  EXPECT_EQ(MendWeightsOf(reference, FlatGru("")), "") << "more entries than the reference";
}

}  // namespace
}  // namespace hone

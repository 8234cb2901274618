// What prompts show of files that are too long for one.
#include "model/shown_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Filler(const std::string& name, size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += "    " + name + " = 1\n";
  return text;
}

// As the expert writes them: the task, a runtime, text that kernels share, kernels, the forward.
std::string ExpertFile() {
  std::string file = "\"\"\"The graph in one kernel.\n" + Filler("docstring", 400) + "\"\"\"\n";
  file += "import torch\n\n\nclass Model(torch.nn.Module):\n" + Filler("task", 2000) + "\n\n";
  file += "class Runtime:\n" + Filler("runtime", 20000) + "\n\n";
  file += "def launch(name):\n    Runtime\n" + Filler("launch", 3000) + "\n\n";
  file += "_PRELUDE = r\"\"\"\nextern \"C\" void shared() {}\n" + Filler("prelude", 30000) + "\"\"\"\n\n";
  file +=
      "_SOURCES = {}\n_SOURCES[\"fused\"] = _PRELUDE + r\"\"\"\nextern \"C\" __global__ void fused() {}\n" +
      Filler("kernel", 20000) + "\"\"\"\n\n";
  file += "def run_steps(x):\n    launch(_SOURCES)\n" + Filler("steps", 5000) + "\n\n";
  file += "class ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return run_steps(x)\n";
  return file;
}

std::string Task() {
  const std::string file = ExpertFile();
  return file.substr(0, file.find("class Runtime"));
}

TEST(ShowSource, AFileOfUsualLengthIsShownWhole) {
  const std::string file = ExpertFile();
  const ShownSource shown = ShowSource("\n\n" + file, Task());
  EXPECT_EQ(shown.text, Trim(file));
  EXPECT_EQ(shown.left_out, "");
}

TEST(ShowSource, KernelsAndTheForwardStayWhenHelperTextGoes) {
  const std::string file = ExpertFile();
  const ShownSource shown = ShowSource(file, Task(), 60'000);
  EXPECT_LE(shown.text.size(), 60'000u);
  EXPECT_THAT(shown.left_out, HasSubstr("_PRELUDE, helper text ("));
  EXPECT_THAT(shown.left_out, HasSubstr("Model, as in the task ("));
  EXPECT_THAT(shown.left_out, Not(HasSubstr("Runtime")));
  for (const char* kept : {"__global__ void fused", "kernel = 1", "steps = 1", "runtime = 1",
                           "class ModelNew", "docstring = 1", "# [left out here: _PRELUDE, helper text ("})
    EXPECT_THAT(shown.text, HasSubstr(kept));
  for (const char* gone : {"prelude = 1", "task = 1"}) EXPECT_THAT(shown.text, Not(HasSubstr(gone)));
}

TEST(ShowSource, ThenDefinitionsGoTheFarthestFromModelNewFirst) {
  const ShownSource shown = ShowSource(ExpertFile(), Task(), 35'000);
  EXPECT_LE(shown.text.size(), 35'000u);
  for (const char* kept : {"kernel = 1", "steps = 1", "launch = 1"}) EXPECT_THAT(shown.text, HasSubstr(kept));
  for (const char* gone : {"prelude = 1", "runtime = 1"}) EXPECT_THAT(shown.text, Not(HasSubstr(gone)));
  EXPECT_THAT(ShowSource(ExpertFile(), Task(), 28'000).text, Not(HasSubstr("launch = 1")));
}

TEST(ShowSource, KernelsGoLastAndModelNewNever) {
  const ShownSource shown = ShowSource(ExpertFile(), Task(), 2'000);
  EXPECT_LE(shown.text.size(), 2'000u);
  EXPECT_THAT(shown.left_out, HasSubstr("_SOURCES, kernels ("));
  EXPECT_THAT(shown.text, HasSubstr("return run_steps(x)"));
}

TEST(ShowSource, ADecoratorGoesWithItsFunction) {
  const std::string file = "@helper\n@other(1)\ndef far(x):\n" + Filler("far", 3000) +
                           "\n\nclass ModelNew:\n    def forward(self, x):\n        return x\n";
  const ShownSource shown = ShowSource(file, "", 1'000);
  EXPECT_THAT(shown.text, Not(HasSubstr("@helper")));
  EXPECT_THAT(shown.left_out, HasSubstr("far ("));
}

TEST(ShowSource, WhatIsNoPythonLosesItsMiddle) {
  std::string file = "class ModelNew(:\n\xFF\n";
  for (int i = 0; i < 4'000; ++i) file += "((((\n";
  const ShownSource shown = ShowSource(file + "end of it\n", "", 5'000);
  EXPECT_LE(shown.text.size(), 5'100u);
  EXPECT_THAT(shown.left_out, HasSubstr("the middle"));
  EXPECT_THAT(shown.text, HasSubstr("# [the middle is left out here]"));
  EXPECT_TRUE(EndsWith(shown.text, "end of it"));
  EXPECT_EQ(ValidUtf8(shown.text), shown.text);
}

}  // namespace
}  // namespace hone

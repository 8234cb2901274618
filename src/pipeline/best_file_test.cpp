#include "pipeline/best_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/lint.h"
#include "base/json.h"
#include "base/text.h"

namespace hone {
namespace {

TEST(BestFile, OpensWithWhatWasMeasuredAndKeepsTheSource) {
  RunRecord run;
  run.name = "run";
  run.task = "39_GRU";
  run.task_path = "tasks/39_GRU.py";
  run.task_sha256 = "0123456789abcdef0123";
  CandidateRecord best;
  best.key = "seed0";
  best.source = "\"\"\"doc\"\"\"\nfrom __future__ import annotations\nclass ModelNew: pass\n";
  best.vs_best = 2.5;
  best.ci_low = 2.4;
  best.ci_high = 2.6;
  best.vs_eager = 9;
  best.kind = "kernel";
  best.json = R"({"speedup":{"best_baseline":"cudagraph"},"provenance":{"device":"H200","torch":"2.11.0"}})";
  const std::string file = BestFile(run, best);
  EXPECT_THAT(file, testing::StartsWith("# 39_GRU made faster by Hone "));
  EXPECT_THAT(file,
              testing::HasSubstr(
                  "2.50x as fast as the best PyTorch baseline (cudagraph; 95% 2.40 to 2.60), 9.00x eager"));
  EXPECT_THAT(file, testing::HasSubstr("Device: H200. torch 2.11.0."));
  EXPECT_THAT(file, testing::EndsWith(best.source)) << "docstring and __future__ stay first but for comments";
}

TEST(BestFile, NothingThatACandidateWroteLeavesTheComment) {
  RunRecord run;
  run.task = "x\nimport os\nos._exit(0)";
  CandidateRecord best;
  best.key = "a\nimport os";
  best.source = "class ModelNew: pass\n";
  for (const std::string& line : Lines(BestFile(run, best)))
    EXPECT_TRUE(line.empty() || line[0] == '#' || line == "class ModelNew: pass") << line;
}

TEST(BestFile, CarriesTheModuleThatItCompilesWith) {
  CandidateRecord best;
  best.source =
      "\"\"\"doc\"\"\"\nfrom __future__ import annotations\nimport hone_ext\nclass ModelNew: pass\n";
  const std::string plain = BestFile({}, best);
  EXPECT_THAT(plain,
              testing::HasSubstr("import annotations\ntry:\n    import hone_ext\nexcept ImportError:"));
  EXPECT_THAT(plain, testing::HasSubstr("\"def cpp(source, flags=()):\\n\""));
  EXPECT_THAT(plain, testing::Not(testing::HasSubstr("sys.modules")));
  struct {
    const char* line;
    const char* becomes;
  } const kRows[] = {{"import hone_ext as h", "h = hone_ext"},
                     {"from hone_ext import cpp", "cpp = hone_ext.cpp"},
                     {"from hone_ext import cpp, cuda as gpu", "cpp = hone_ext.cpp\ngpu = hone_ext.cuda"}};
  for (const auto& row : kRows) {
    best.source = std::string("import torch\n") + row.line + "\nclass ModelNew: pass\n";
    EXPECT_THAT(BestFile({}, best), testing::EndsWith(std::string(", hone_ext.__dict__)\n") + row.becomes +
                                                      "\nclass ModelNew: pass\n"))
        << row.line;
    EXPECT_THAT(BestFile({}, best), testing::Not(testing::HasSubstr("sys.modules"))) << row.line;
  }
  for (const char* line :
       {"import torch, hone_ext", "from hone_ext import *", "from hone_ext import (cpp)"}) {
    best.source = std::string(line) + "\nclass ModelNew: pass\n";
    EXPECT_THAT(BestFile({}, best), testing::HasSubstr("sys.modules[\"hone_ext\"] = hone_ext\n")) << line;
    EXPECT_THAT(BestFile({}, best), testing::EndsWith(best.source)) << line;
  }
}

// `hone bench` prints findings for a winner's file as if they were the winner's own, so best.py must add
// none.
TEST(BestFile, AddsNothingThatLintHasSomethingToSayAbout) {
  constexpr char kBody[] =
      "\n\nclass ModelNew(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n\n"
      "    def forward(self, x):\n        return x.view(x.shape)\n";
  RunRecord run;
  run.task = "t";
  run.task_path = "t.py";
  CandidateRecord best;
  best.key = "seed0";
  best.json = "{}";
  for (const char* import :
       {"", "import hone_ext\n", "import hone_ext as ext\n", "from hone_ext import cpp, cuda as gpu\n"}) {
    best.source = std::string("import torch\n") + import + kBody;
    const std::string alone = DumpJson(ToJson(LintSource("c.py", best.source, {}).findings));
    EXPECT_EQ(alone, "[]") << "the candidate itself is clean: " << import;
    EXPECT_EQ(DumpJson(ToJson(LintSource("best.py", BestFile(run, best), {}).findings)), "[]") << import;
  }
}

TEST(BestFile, WithoutAnAcceptedCandidateItIsTheTaskUnderTheNameModelNewAndSaysWhy) {
  EXPECT_EQ(UnchangedFile("class Model: pass", "nothing could be tried:\nimport os"),
            "# nothing could be tried:\n# import os\n# ModelNew is the task's own Model.\n"
            "class Model: pass\n\n\nModelNew = Model\n");
}

}  // namespace
}  // namespace hone

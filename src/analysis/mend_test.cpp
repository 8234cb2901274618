// One row per fix: a candidate's line before and after, and a similar case without a single right answer.
// tests/golden/lint_golden_test.cpp repairs the corpus.
#include "analysis/mend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/usual_imports.h"
#include "base/text.h"

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Case {
  const char* name;
  const char* globals;  // code before the kernel
  const char* params;   // of the kernel, after x, y, n
  const char* body;     // of the kernel, where v is the loaded value; it sets r
  const char* launch;   // arguments after x, y, n
  const char* after;    // text that the repaired file must contain; "" if it must not change
};

std::string FileOf(const Case& one) {
  return std::string("import torch\nimport triton\nimport triton.language as tl\n") + one.globals +
         "\n\n@triton.jit\ndef k(x, y, n, " + one.params +
         "):\n    i = tl.program_id(0) * 64 + tl.arange(0, 64)\n    v = tl.load(x + i, mask=i < n, "
         "other=0.0)\n    " +
         one.body +
         "\n    tl.store(y + i, r, mask=i < n)\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, "
         "x):\n"
         "        y = torch.empty_like(x)\n        grid = (triton.cdiv(x.numel(), 64),)\n        SIZE = 64\n"
         "        k[grid](x, y, x.numel(), " +
         one.launch + ")\n        return y\n";
}

class Fix : public testing::TestWithParam<Case> {};

TEST_P(Fix, MendsTheOneAndLeavesTheOther) {
  const Case& one = GetParam();
  const std::string before = FileOf(one);
  const MendedSource mended = MendSource("case.py", before);
  if (std::string(one.after).empty()) {
    EXPECT_EQ(mended.text, before);
    return;
  }
  EXPECT_THAT(mended.text, HasSubstr(one.after));
  EXPECT_FALSE(mended.report.has_errors()) << ToText(mended.report, mended.text, false);
  ASSERT_FALSE(mended.fixes.empty());
  EXPECT_NE(mended.fixes[0].before, mended.fixes[0].after);
  EXPECT_EQ(MendSource("case.py", mended.text).text, mended.text);
  // Windows line endings are kept.
  const MendedSource crlf = MendSource("case.py", ReplaceAll(before, "\n", "\r\n"));
  EXPECT_EQ(crlf.text, ReplaceAll(mended.text, "\n", "\r\n"));
}

constexpr Case kCases[] = {
    {"moved", "", "B: tl.constexpr", "r = tl.tanh(v)", "B=64", "r = libdevice.tanh(v)"},
    {"rounding_has_two_answers", "", "B: tl.constexpr", "r = tl.round(v)", "B=64", ""},
    {"template", "", "B: tl.constexpr", "r = tl.clip(v, 0.0, 1.0)", "B=64", "r = tl.clamp(v, 0.0, 1.0)"},
    {"clip_without_bounds", "", "B: tl.constexpr", "r = tl.clip(v, 0.0)", "B=64", ""},
    {"method", "", "B: tl.constexpr", "r = v.astype(tl.float32)", "B=64", "r = v.to(tl.float32)"},
    {"host_function", "", "B: tl.constexpr", "r = torch.exp(v)", "B=64", "r = tl.exp(v)"},
    {"host_function_without_namesake", "", "B: tl.constexpr", "r = torch.softmax(v, 0)", "B=64", ""},
    {"builtin", "", "B: tl.constexpr", "r = abs(v)", "B=64", "r = tl.abs(v)"},
    {"import", "", "B: tl.constexpr", "r = libdevice.erfc(v)", "B=64",
     "from triton.language.extra import libdevice"},
    {"unknown_name", "", "B: tl.constexpr", "r = mystery(v)", "B=64", ""},
    {"global", "SLOPE = 0.1\n", "B: tl.constexpr", "r = v * SLOPE", "B=64", "SLOPE = tl.constexpr(0.1)"},
    {"global_of_the_host_too", "SLOPE = 3\nprint(SLOPE)\n", "B: tl.constexpr", "r = v * SLOPE", "B=64",
     "SLOPE_CONSTEXPR = tl.constexpr(SLOPE)\nprint(SLOPE)\n"},
    {"global_that_changes", "SLOPE = 3\nSLOPE = 4\n", "B: tl.constexpr", "r = v * SLOPE", "B=64", ""},
    {"constexpr", "", "B", "r = v + tl.zeros((B,), dtype=tl.float32)", "B=64", "n, B: tl.constexpr):"},
    {"extent_that_is_loaded", "", "B: tl.constexpr",
     "c = tl.load(x)\n    r = v + tl.zeros((c,), dtype=tl.float32)", "B=64", ""},
    {"comparison", "", "B: tl.constexpr", "r = tl.where(0.0 < v < 1.0, v, 0.0)", "B=64",
     "tl.where((0.0 < v) & (v < 1.0), v, 0.0)"},
    {"comparison_of_a_call", "", "B: tl.constexpr",
     "r = tl.where(0.0 < tl.load(x + i, mask=i < n) < 1.0, v, 0.0)", "B=64", ""},
    {"square", "", "B: tl.constexpr", "r = v ** 2", "B=64", "r = v * v"},
    {"power_of_a_block", "", "B: tl.constexpr", "r = v ** v", "B=64", ""},
    {"several_targets", "", "B: tl.constexpr", "r = q = v + 1.0", "B=64", "r = v + 1.0\n    q = r"},
    {"several_targets_with_an_index", "", "B: tl.constexpr", "r = v\n    q = r[0] = v + 1.0", "B=64", ""},
    {"continue", "", "B: tl.constexpr",
     "r = v\n    for j in range(B):\n        if j == 2:\n            continue\n        r += 1.0", "B=64",
     "        if not (j == 2):\n            r += 1.0"},
    {"break", "", "B: tl.constexpr",
     "r = v\n    for j in range(B):\n        if j == 2:\n            break\n        r += 1.0", "B=64", ""},
    {"misspelt", "", "BLOCK: tl.constexpr", "r = v", "BLOK=64", "x.numel(), BLOCK=64)"},
    {"left_out_and_there", "", "SIZE: tl.constexpr", "r = v", "num_warps=4", "num_warps=4, SIZE=SIZE)"},
    {"left_out_and_not_there", "", "OTHER: tl.constexpr", "r = v", "num_warps=4", ""},
    {"option", "", "B: tl.constexpr", "r = v", "B=64, num_warp=4", "B=64, num_warps=4)"},
    {"axis", "", "B: tl.constexpr", "r = v + tl.sum(v, dim=0)", "B=64", "tl.sum(v, axis=0)"},
    {"type_called", "", "B: tl.constexpr", "r = tl.float32(v)", "B=64", "r = v.to(tl.float32)"},
    {"dot_types", "", "B: tl.constexpr",
     "a = tl.zeros((16, 16), dtype=tl.float16)\n    b = tl.zeros((16, 16), dtype=tl.float32)\n"
     "    r = v + tl.sum(tl.sum(tl.dot(a, b), axis=0), axis=0)",
     "B=64", "tl.dot(a.to(tl.float32), b)"},
    {"dot_types_of_integers", "", "B: tl.constexpr",
     "a = tl.zeros((16, 16), dtype=tl.int32)\n    b = tl.zeros((16, 16), dtype=tl.float32)\n"
     "    r = v + tl.sum(tl.sum(tl.dot(a, b), axis=0), axis=0)",
     "B=64", ""},
    {"helper", "def twice(a):\n    return a * 2\n", "B: tl.constexpr", "r = twice(v)", "B=64",
     "@triton.jit\ndef twice(a):"},
    {"helper_of_the_host_too", "def twice(a):\n    return a * 2\n\n\nprint(twice(2))\n", "B: tl.constexpr",
     "r = twice(v)", "B=64", ""},
    {"mask", "", "B: tl.constexpr", "r = v + tl.load(y + i)", "B=64",
     "tl.load(y + i, mask=i < n, other=0.0)"},
    {"mask_of_other_offsets", "", "B: tl.constexpr", "r = v + tl.load(y + i * 2)", "B=64", ""},
};

INSTANTIATE_TEST_SUITE_P(Mend, Fix, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Mend, ANameThatStandsForItselfEnds) {
  const Case cyclic = {"", "tl = tl.math\n", "B: tl.constexpr", "r = tl.tanh(v)", "B=64", ""};
  const MendedSource mended = MendSource("case.py", FileOf(cyclic));
  EXPECT_EQ(MendSource("case.py", mended.text).text, mended.text);
}

TEST(Mend, AddsTheImportThatTheFindingAdvises) {
  // Both tables now have the names that only one of them used to have.
  for (const char* name : {"tl", "np", "F", "itertools", "Callable", "load_inline", "lru_cache", "partial",
                           "dataclass", "Tensor", "Parameter", "libdevice", "warnings"}) {
    SCOPED_TRACE(name);
    const std::string file =
        "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n"
        "        return x, " +
        std::string(name) + "\n";
    const std::string line(UsualImport(name));
    ASSERT_FALSE(line.empty());
    const LintReport report = LintSource("case.py", file);
    ASSERT_EQ(report.findings.size(), 1u);
    EXPECT_EQ(report.findings[0].fix, "Add: " + line);
    const MendedSource mended = MendSource("case.py", file);
    EXPECT_THAT(mended.text, HasSubstr(line + "\n"));
    EXPECT_FALSE(mended.report.has_errors());
  }
  EXPECT_TRUE(UsualImport("scale").empty());
}

TEST(Mend, RenamesTheOnlyModule) {
  const std::string file =
      "import torch\n\n\nclass NewModel(torch.nn.Module):\n    def forward(self, x):\n        return x\n";
  EXPECT_THAT(MendSource("case.py", file).text, HasSubstr("class ModelNew(torch.nn.Module)"));
  const std::string two =
      file + "\n\nclass Other(torch.nn.Module):\n    def forward(self, x):\n        return x\n";
  EXPECT_EQ(MendSource("case.py", two).text, two);
}

TEST(Mend, TakesTheFileOutOfAReply) {
  const std::string file =
      "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x\n";
  EXPECT_EQ(MendSource("case.py", "Here it is:\n```python\n" + file + "```\nIt is fast.\n").text, file);
  EXPECT_EQ(MendSource("case.py", "```python\n" + file).text, file);
}

TEST(Mend, MovesDecoratorsAboveJit) {
  const std::string file =
      "import torch\nimport triton\nimport triton.language as tl\n\n\n@triton.jit\n@triton.autotune(\n"
      "    configs=[triton.Config({\"B\": 64})],\n    key=[\"n\"],\n)\ndef k(x, n, B: tl.constexpr):\n"
      "    i = tl.arange(0, B)\n    tl.store(x + i, 0.0, mask=i < n)\n\n\nclass ModelNew(torch.nn.Module):\n"
      "    def forward(self, x):\n        y = torch.empty_like(x)\n        k[(1,)](y, x.numel())\n        "
      "return y\n";
  const MendedSource mended = MendSource("case.py", file);
  EXPECT_THAT(mended.text, HasSubstr(")\n@triton.jit\ndef k("));
  EXPECT_THAT(mended.text, Not(HasSubstr("@triton.jit\n@triton.autotune")));
}

TEST(Mend, TakesWeightsOverByNameWhereShapesLeaveOneWay) {
  LintOptions options;
  options.task_text =
      "import torch\nimport torch.nn as nn\n\n\nclass Model(nn.Module):\n    def __init__(self, a, b):\n"
      "        super().__init__()\n        self.fc = nn.Linear(a, b)\n    def forward(self, x):\n"
      "        return self.fc(x)\n\n\ndef get_init_inputs():\n    return [8, 4]\n";
  const std::string file =
      "import torch\nimport torch.nn as nn\n\n\nclass ModelNew(nn.Module):\n    def __init__(self, a, b):\n"
      "        super().__init__()\n        self.w = nn.Parameter(torch.zeros(b, a))\n"
      "        self.bias = nn.Parameter(torch.zeros(b))\n    def forward(self, x):\n        return x @ "
      "self.w.T + self.bias\n";
  const MendedSource mended = MendSource("case.py", file, options);
  EXPECT_THAT(mended.text, HasSubstr("own[\"w\"].copy_(state_dict[\"fc.weight\"])"));
  EXPECT_THAT(mended.text, HasSubstr("own[\"bias\"].copy_(state_dict[\"fc.bias\"])"));
  EXPECT_TRUE(mended.report.findings.empty());
  EXPECT_EQ(MendSource("case.py", file).text, file) << "without the task nothing is known";
  // Two parameters of equal shape could be swapped, so neither order is certain.
  options.task_text =
      ReplaceAll(options.task_text, "self.fc = nn.Linear(a, b)",
                 "self.p = nn.Parameter(torch.zeros(a)); self.q = nn.Parameter(torch.zeros(a))");
  const std::string twins = ReplaceAll(ReplaceAll(file, "zeros(b, a)", "zeros(a)"), "zeros(b)", "zeros(a)");
  EXPECT_EQ(MendSource("case.py", twins, options).text, twins);
}

}  // namespace
}  // namespace hone

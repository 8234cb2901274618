#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "analysis/check.h"
#include "analysis/constant.h"
#include "analysis/device.h"
#include "analysis/kernel_value.h"
#include "analysis/lint.h"
#include "analysis/triton_tables.h"
#include "base/text.h"

namespace hone {
namespace {

const char kHeader[] = "import torch\nimport torch.nn as nn\nimport triton\nimport triton.language as tl\n\n";

// A kernel with this body in an otherwise fixed file. BLOCK is 128 and n is a run-time size.
std::string Kernel(const std::string& body, const std::string& launch = "x, out, x.numel(), BLOCK=128",
                   const std::string& before = "") {
  return kHeader + before +
         "@triton.jit\ndef kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, FLAG: tl.constexpr = 0):\n"
         "    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
         "    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)\n" +
         body +
         "    tl.store(out_ptr + offs, x, mask=offs < n)\n\n"
         "class ModelNew(nn.Module):\n    def forward(self, x):\n        out = torch.empty_like(x)\n        "
         "kernel[(8,)](" +
         launch + ")\n        return out\n";
}

std::string Errors(const std::string& text, const LintOptions& options = {}) {
  std::vector<std::string> rules;
  for (const Finding& finding : LintSource("case.py", text, options).findings)
    if (finding.severity == Severity::kError) rules.push_back(finding.rule);
  return Join(rules, ",");
}

TEST(Constant, FoldsAsPythonDoes) {
  const auto fold = [](const char* op, int64_t a, int64_t b) {
    return FoldBinary(op, Constant::Int(a), Constant::Int(b));
  };
  EXPECT_EQ(fold("//", -7, 2).integer, -4);
  EXPECT_EQ(fold("%", -7, 2).integer, 1);
  EXPECT_EQ(fold("**", 2, 10).integer, 1024);
  EXPECT_EQ(fold("<<", 1, 5).integer, 32);
  EXPECT_FALSE(fold("//", 1, 0).known());
  EXPECT_FALSE(fold("*", INT64_MAX, 2).known());
  EXPECT_FALSE(fold("<<", 1, 80).known());
  EXPECT_EQ(fold("/", 1, 2).number, 0.5);
  EXPECT_EQ(FoldCall("triton.next_power_of_2", {Constant::Int(96)}).integer, 128);
  EXPECT_EQ(FoldCall("triton.cdiv", {Constant::Int(7), Constant::Int(2)}).integer, 4);
  EXPECT_FALSE(FoldCall("min", {Constant::Int(7), Constant()}).known());
}

TEST(KernelValue, BroadcastsAsTritonDoes) {
  std::vector<int64_t> out;
  EXPECT_TRUE(BroadcastShapes({64}, {64, 1}, &out));
  EXPECT_EQ(out, (std::vector<int64_t>{64, 64}));
  EXPECT_TRUE(BroadcastShapes({1, 32}, {64, 1}, &out));
  EXPECT_FALSE(BroadcastShapes({64}, {32}, &out));
  EXPECT_TRUE(BroadcastShapes({-1}, {32}, &out));
}

TEST(TritonTables, KnowWhichReleaseHasWhat) {
  EXPECT_EQ(TritonReleasesWith("triton.language", "tanh"), 0u);
  EXPECT_EQ(TritonReleasesWith("triton.language", "any"), 0u);
  EXPECT_EQ(TritonReleasesWith("triton.language", "arange"), kAllTriton);
  EXPECT_NE(TritonReleasesWith("triton.language.math", "tanh") & TritonVersionMask("2.1"), 0u);
  EXPECT_EQ(TritonReleasesWith("triton.language.math", "tanh") & kTriton3, 0u);
  EXPECT_EQ(TritonReleasesWith("triton.language", "gather") & TritonVersionMask("3.0"), 0u);
  EXPECT_EQ(TritonVersionMask("3.2.0"), TritonVersionMask("3.2"));
  EXPECT_EQ(TritonVersionMask("9.1"), TritonVersionMask("3.6"));
  EXPECT_EQ(TritonVersionMask("three"), 0u);
  EXPECT_EQ(DescribeVersions(TritonVersionMask("3.0") | TritonVersionMask("3.1") | TritonVersionMask("3.6")),
            "3.0 to 3.1, 3.6");
}

TEST(Device, IsFoundByTheDriversName) {
  EXPECT_EQ(FindDevice("NVIDIA GeForce RTX 4090")->shared_memory_bytes, 101376);
  EXPECT_EQ(FindDevice("h200")->shared_memory_bytes, 232448);
  EXPECT_EQ(FindDevice("NVIDIA L40S")->name, "l40s");
  EXPECT_EQ(FindDevice("abacus"), nullptr);
}

struct ErrorCase {
  const char* name;
  std::string text;
  const char* errors;
};

class Interpreter : public testing::TestWithParam<ErrorCase> {};

TEST_P(Interpreter, AgreesWithTritonsFrontEnd) {
  EXPECT_EQ(Errors(GetParam().text), GetParam().errors) << GetParam().text;
}

// Each of these was verified with Triton 3.6 itself.
INSTANTIATE_TEST_SUITE_P(
    Cases, Interpreter,
    testing::Values(
        ErrorCase{"Clean", Kernel("    x = x + 1.0\n"), ""},
        ErrorCase{"WhileIsFine", Kernel("    i = 0\n    while i < n:\n        x = x + 1.0\n        i += 1\n"),
                  ""},
        ErrorCase{"EarlyReturnIsFine", Kernel("    if tl.program_id(0) > n:\n        return\n"), ""},
        ErrorCase{
            "ReturnInLoop",
            Kernel("    for i in range(n):\n        if x_ptr is None:\n            x = x\n        return\n"),
            "unsupported-statement"},
        ErrorCase{"StaticBranchHidesContinue",
                  Kernel("    for i in tl.static_range(4):\n        if FLAG > 3:\n            continue\n     "
                         "   x = x + i\n"),
                  ""},
        ErrorCase{"ContinueInStaticRange",
                  Kernel("    for i in tl.static_range(4):\n        if i == 1:\n            continue\n       "
                         " x = x + i\n"),
                  "unsupported-statement"},
        ErrorCase{"LoopVariableSurvives",
                  Kernel("    for i in range(n):\n        x = x + 1.0\n    x = x + i\n"), ""},
        ErrorCase{"NamesOfLoopDoNot", Kernel("    for i in range(n):\n        v = x + 1.0\n    x = v\n"),
                  "name-not-defined"},
        ErrorCase{
            "BothBranchesDefine",
            Kernel(
                "    if tl.program_id(0) > 2:\n        v = 1.0\n    else:\n        v = 2.0\n    x = x + v\n"),
            ""},
        ErrorCase{"OneBranchDefines",
                  Kernel("    if tl.program_id(0) > 2:\n        v = 1.0\n    x = x + v\n"),
                  "name-not-defined"},
        ErrorCase{"ConstexprBranchDefines", Kernel("    if FLAG == 0:\n        v = 1.0\n    x = x + v\n"),
                  ""},
        ErrorCase{"ScalarBecomesBlock",
                  Kernel("    acc = 0.0\n    for i in range(n):\n        acc += x\n    x = x + acc\n"),
                  "incompatible-block-shapes"},
        ErrorCase{"ScalarStaysScalar",
                  Kernel("    acc = 0.0\n    for i in range(n):\n        acc += tl.load(x_ptr + i)\n    x = "
                         "x + acc\n"),
                  ""},
        ErrorCase{"IntBecomesFloat",
                  Kernel("    acc = 0\n    for i in range(n):\n        acc += tl.load(x_ptr + "
                         "i).to(tl.float32)\n    x = x + acc\n"),
                  "incompatible-block-shapes"},
        ErrorCase{"MinOfTwoIsFine", Kernel("    x = min(x, 1.0) + max(n, 2)\n"), ""},
        ErrorCase{"AbsIsNotThere", Kernel("    x = abs(x)\n"), "name-not-defined"},
        ErrorCase{"MathOnConstexprIsFine",
                  Kernel("    x = x * math.sqrt(BLOCK)\n", "x, out, x.numel(), BLOCK=128", "import math\n"),
                  ""},
        ErrorCase{"MathOnRunTime",
                  Kernel("    x = x * math.sqrt(n)\n", "x, out, x.numel(), BLOCK=128", "import math\n"),
                  "host-called-from-jit"},
        ErrorCase{"HostCdiv",
                  Kernel("    for i in range(triton.cdiv(tl.program_id(0), 2)):\n        x = x + 1.0\n"),
                  "host-called-from-jit"},
        ErrorCase{"ConstexprHelperArgument",
                  Kernel("    x = x + wide(BLOCK)\n", "x, out, x.numel(), BLOCK=128",
                         "@triton.jit\ndef wide(w):\n    return tl.arange(0, w)\n\n"),
                  ""},
        ErrorCase{"DictionaryAtLaunch", Kernel("", "x, out, x.numel(), **dict(BLOCK=96)"),
                  "arange-not-power-of-two"},
        ErrorCase{"PositionalBlock", Kernel("", "x, out, x.numel(), 100"), "arange-not-power-of-two"},
        ErrorCase{"AttributeOfModule", Kernel("", "x, out, x.numel(), BLOCK=triton.next_power_of_2(100)"),
                  ""},
        ErrorCase{"BlockCondition", Kernel("    if x > 0:\n        x = x + 1.0\n"), "unsupported-statement"},
        ErrorCase{"MaskOfOtherExtent",
                  Kernel("    x = tl.load(x_ptr + offs, mask=tl.arange(0, 64) < n, other=0.0)\n"),
                  "incompatible-block-shapes"},
        ErrorCase{"StoreThroughOnePointer", Kernel("    tl.store(out_ptr, x)\n"),
                  "incompatible-block-shapes"},
        ErrorCase{"Libdevice",
                  Kernel("    x = libdevice.tanh(x)\n", "x, out, x.numel(), BLOCK=128",
                         "from triton.language.extra import libdevice\n"),
                  ""},
        ErrorCase{
            "UnlaunchedKernelsAreNotErrors",
            kHeader +
                std::string(
                    "@triton.jit\ndef k(x):\n    y = tl.tanh(x)\n\nclass ModelNew(nn.Module):\n    pass\n"),
            ""},
        ErrorCase{
            "GuardedLaunchesAreNotErrors",
            ReplaceAll(Kernel("    x = tl.tanh(x)\n"), "        kernel[(8,)](x, out, x.numel(), BLOCK=128)\n",
                       "        try:\n            kernel[(8,)](x, out, x.numel(), BLOCK=128)\n        except "
                       "Exception:\n            out = x\n"),
            ""}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Lint, VersionsDecideBetweenErrorAndWarning) {
  const std::string text = Kernel("    if n > 0 and n < 9 and n != 4:\n        x = x + 1.0\n");
  EXPECT_EQ(Errors(text), "");
  LintOptions old;
  old.triton_versions = TritonVersionMask("3.3");
  EXPECT_EQ(Errors(text, old), "unsupported-statement");
  LintOptions current;
  current.triton_versions = TritonVersionMask("3.6");
  EXPECT_TRUE(LintSource("case.py", text, current).findings.empty());
}

TEST(Lint, IsNotCertainOfALaunchThatTheRunDecides) {
  const std::string head = R"(import torch
import triton
import triton.language as tl

@triton.jit
def bad(x_ptr, N: tl.constexpr):
    offsets = tl.arange(0, N)
    x = tl.load(x_ptr + offsets)
    tl.store(x_ptr, x[0])

)";
  struct Row {
    const char* what;
    const char* rest;
    Severity severity;
  };
  const std::vector<Row> rows = {
      {"an ordinary launch", R"(class ModelNew(torch.nn.Module):
    def forward(self, x):
        bad[(1,)](x, N=16)
        return x
)",
       Severity::kError},
      {"a launch on the device", R"(class ModelNew(torch.nn.Module):
    def forward(self, x):
        if x.is_cuda:
            bad[(1,)](x, N=16)
        return x
)",
       Severity::kError},
      {"a method that forward calls", R"(class ModelNew(torch.nn.Module):
    def run(self, x):
        bad[(1,)](x, N=16)
    def forward(self, x):
        self.run(x)
        return x
)",
       Severity::kError},
      {"a launch for some sizes", R"(class ModelNew(torch.nn.Module):
    def forward(self, x):
        if x.shape[1] > 4096:
            bad[(1,)](x, N=16)
        return x
)",
       Severity::kWarning},
      {"the backward of a function", R"(class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x
    @staticmethod
    def backward(ctx, g):
        bad[(1,)](g, N=16)
        return g

class ModelNew(torch.nn.Module):
    def forward(self, x):
        return Double.apply(x)
)",
       Severity::kWarning},
      {"a method that nothing calls", R"(class ModelNew(torch.nn.Module):
    def another_way(self, x):
        bad[(1,)](x, N=16)
    def forward(self, x):
        return 2 * x
)",
       Severity::kWarning},
  };
  for (const Row& row : rows) {
    int found = 0;
    for (const Finding& finding : LintSource("candidate.py", head + row.rest).findings)
      if (finding.rule == "tensor-indexing") {
        ++found;
        EXPECT_EQ(finding.severity, row.severity) << row.what;
      }
    EXPECT_EQ(found, 1) << row.what;
  }
}

TEST(Lint, RefusesARunOnlyWhereItIsCertainAndARunWouldProveNothing) {
  auto finding = [](const char* rule, Severity severity) {
    Finding made;
    made.rule = rule;
    made.severity = severity;
    return made;
  };
  std::set<std::string_view> refusing, predicting;
  for (const CheckInfo& check : AllChecks()) {
    const std::vector<Finding> errors = {finding("no-such-rule", Severity::kError),
                                         finding(std::string(check.rule).c_str(), Severity::kError)};
    if (FirstWithForce(errors, Force::kRefuse) != nullptr) refusing.insert(check.rule);
    const Finding* predicted = FirstWithForce(errors, Force::kPredict);
    if (predicted == &errors[1]) predicting.insert(check.rule);
    EXPECT_EQ(FirstWithForce({finding(std::string(check.rule).c_str(), Severity::kWarning)}, Force::kPredict),
              nullptr)
        << check.rule << ": a warning is not certain";
  }
  EXPECT_EQ(refusing, (std::set<std::string_view>{"syntax", "recurrence-race"}));
  for (const char* rule : {"tensor-indexing", "host-called-from-jit", "unsupported-statement",
                           "arange-not-constexpr", "unknown-triton-op"})
    EXPECT_EQ(predicting.count(rule), 0u) << rule << " has accused files that ran";
  EXPECT_EQ(predicting.count("missing-modelnew"), 1u);
}

TEST(Lint, TheTaskGivesConstructorArguments) {
  const std::string text = kHeader + std::string(
                                         "@triton.jit\ndef k(x_ptr, SIZE: tl.constexpr):\n    offs = "
                                         "tl.arange(0, SIZE)\n    tl.store(x_ptr + offs, 1.0)\n\n"
                                         "class ModelNew(nn.Module):\n    def __init__(self, size):\n        "
                                         "super().__init__()\n        self.size = size\n\n"
                                         "    def forward(self, x):\n        out = torch.empty_like(x)\n     "
                                         "   k[(1,)](out, SIZE=self.size)\n        return out\n");
  EXPECT_EQ(Errors(text), "");
  LintOptions options;
  options.task_text = "size = 48\ndef get_init_inputs():\n    return [size * 2]\n";
  EXPECT_EQ(Errors(text, options), "arange-not-power-of-two");
}

TEST(Lint, AllowCommentsSilenceOneRuleOnOneLine) {
  EXPECT_EQ(Errors(Kernel("    x = tl.tanh(x)  # hone: allow unknown-triton-op\n")), "");
  EXPECT_EQ(Errors(Kernel("    # hone: allow unknown-triton-op, syntax\n    x = tl.tanh(x)\n")), "");
  EXPECT_EQ(Errors(Kernel("    x = tl.tanh(x)  # hone: allow syntax\n")), "unknown-triton-op");
}

TEST(Lint, CudaInStringsIsReportedWithTheLinesOfTheOuterFile) {
  const std::string text =
      "src = r\"\"\"\n#include <torch/extension.h>\n__global__ void k(float* y) {\n  __shared__ float "
      "s[32];\n  s[threadIdx.x] = 1.f;\n"
      "  y[0] = s[threadIdx.x + 1];\n}\n\"\"\"\nclass ModelNew: pass\n";
  const LintReport report = LintSource("case.py", text);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].rule, "missing-sync");
  EXPECT_EQ(report.findings[0].line, 6u);
}

TEST(Lint, ClassesFollowFromWhatTheCodeDoes) {
  EXPECT_EQ(LintSource("a.py", Kernel("    x = x + 1.0\n")).kernel_class, KernelClass::kElementwise);
  EXPECT_EQ(LintSource("a.py", Kernel("    x = x - tl.max(x, axis=0)\n")).kernel_class,
            KernelClass::kReduction);
  EXPECT_EQ(LintSource("a.py", Kernel("    x = tl.cumsum(x, axis=0)\n")).kernel_class, KernelClass::kScan);
  const std::string loop = Kernel(
      "    for t in range(n):\n        x = x * 0.5 + tl.load(x_ptr + t * n + offs)\n        tl.store(out_ptr "
      "+ t * n + offs, x)\n");
  EXPECT_EQ(LintSource("a.py", loop).kernel_class, KernelClass::kPersistentRecurrent);
  // The same loop on the host, under misleading names.
  const std::string host = ReplaceAll(
      ReplaceAll(Kernel("    x = x * 0.5\n"), "kernel", "persistent_gru"),
      "        persistent_gru[(8,)](x, out",
      "        for seq_len in range(x.shape[0]):\n            persistent_gru[(8,)](x[seq_len], out");
  EXPECT_EQ(LintSource("a.py", host).kernel_class, KernelClass::kLaunchPerStep);
  EXPECT_EQ(LintSource("a.py", "class ModelNew: pass\n").kernel_class, KernelClass::kNone);
}

TEST(Lint, JsonHasTheFieldsOfTheContract) {
  const OrderedJson json = ToJson(LintSource("a.py", Kernel("    x = tl.tanh(x)\n")));
  EXPECT_EQ(json["path"], "a.py");
  EXPECT_EQ(json["kernel_class"], "elementwise");
  EXPECT_EQ(json["facts"]["kernels"][0]["name"], "kernel");
  EXPECT_EQ(json["facts"]["launches"][0]["grid"][0], "8");
  const OrderedJson& finding = json["findings"][0];
  EXPECT_EQ(finding["rule"], "unknown-triton-op");
  EXPECT_EQ(finding["severity"], "error");
  EXPECT_GT(finding["line"].get<int64_t>(), 1);
  EXPECT_FALSE(finding["fix"].get<std::string>().empty());
}

TEST(Lint, FactsListEveryCastAndItsLine) {
  const std::string text = Kernel("    y = x.to(tl.float16)\n    x = tl.cast(y, tl.float32)\n") +
                           "\n    def half(self, x):\n        return x.half()\n";
  const LintReport report = LintSource("case.py", text, {});
  const OrderedJson& casts = report.facts["kernels"][0]["casts"];
  ASSERT_EQ(casts.size(), 2u);
  EXPECT_EQ(casts[0]["to"], "tl.float16");
  EXPECT_EQ(casts[0]["line"], 10);
  EXPECT_EQ(casts[0]["lowers"], true);
  EXPECT_EQ(casts[1]["to"], "tl.float32");
  EXPECT_EQ(casts[1]["lowers"], false);
}

TEST(Lint, FactsFollowCudaFromTheLaunchToThePythonCall) {
  const std::string text =
      "import torch\nfrom torch.utils.cpp_extension import load_inline\nsource = \"\"\"\n"
      "__global__ void k(float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = 1.f; }\n"
      "torch::Tensor f(torch::Tensor x) {\n"
      "  auto y = torch::empty_like(x);\n"
      "  k<<<1, 32>>>(y.data_ptr<float>(), 32);\n"
      "  void* args[] = {&y};\n"
      "  cudaLaunchCooperativeKernel((void*)k, dim3(4), dim3(32), args, 0, 0);\n"
      "  return y;\n}\n\"\"\"\next = load_inline('e', '', source)\n"
      "class ModelNew(torch.nn.Module):\n  def forward(self, x):\n    return ext.f(x)\n";
  const LintReport report = LintSource("case.py", text, {});
  ASSERT_EQ(report.facts["launches"].size(), 2u);
  EXPECT_EQ(report.facts["launches"][0]["cooperative"], false);
  EXPECT_EQ(report.facts["launches"][0]["result_used"], true);
  EXPECT_EQ(report.facts["launches"][1]["cooperative"], true);
  EXPECT_EQ(report.facts["launches"][1]["kernel"], "k");
  ASSERT_EQ(report.facts["extension_calls"].size(), 1u);
  EXPECT_EQ(report.facts["extension_calls"][0]["function"], "f");
  EXPECT_EQ(report.facts["extension_calls"][0]["result_used"], true);
}

TEST(Lint, FactsSayWhatIsCompiledHoweverItIsImportedAndNotWhatIsOnlyMentioned) {
  struct Row {
    const char* text;
    const char* with;  // may be empty
  };
  for (const Row& row : std::vector<Row>{
           {"import hone_ext\nlib = hone_ext.cpp('int f();')\n", "hone_ext.cpp"},
           {"import hone_ext as h\nlib = h.cuda('int f();')\n", "hone_ext.cuda"},
           {"from hone_ext import cpp as build\nlib = build('int f();')\n", "hone_ext.cpp"},
           {"from torch.utils import cpp_extension\ntry:\n  lib = cpp_extension.load_inline('a', '')\n"
            "except Exception:\n  lib = None\n",
            "torch.utils.cpp_extension.load_inline"},
           {"from torch.utils.cpp_extension import load\nlib = load('a', [])\n",
            "torch.utils.cpp_extension.load"},
           {"# hone_ext.cpp( would be an idea, and so would torch.utils.cpp_extension\nx = "
            "'hone_ext.cpp(source)'\n",
            ""},
           {"from torch.utils.cpp_extension import load_inline\n", ""},
           {"import hone_ext\nif __name__ == '__main__':\n  hone_ext.cpp('int f();')\n", ""}}) {
    const OrderedJson compiles = LintSource("a.py", row.text).facts["compiles"];
    EXPECT_EQ(compiles.size(), *row.with == '\0' ? 0u : 1u) << row.text;
    if (!compiles.empty()) {
      EXPECT_EQ(compiles[0]["with"], row.with) << row.text;
    }
  }
}

TEST(Lint, WeightsOfUnknownShapeAreNotHeldAgainstAnybody) {
  LintOptions options;
  options.task_text = std::string(kHeader) +
                      "class Model(nn.Module):\n  def __init__(self, n, make):\n    super().__init__()\n"
                      "    self.a = nn.Linear(n, make())\n    self.b = nn.Sequential(nn.Linear(4, 4))\n"
                      "def get_init_inputs():\n  return [8, len]\n";
  const auto weights = [&](const std::string& init) {
    const std::string text = std::string(kHeader) +
                             "class ModelNew(nn.Module):\n  def __init__(self, n, make):\n"
                             "    super().__init__()\n" +
                             init + "  def forward(self, x):\n    return x\n";
    int count = 0;
    for (const Finding& finding : LintSource("case.py", text, options).findings)
      count += finding.rule == "weights-not-transferable" ? 1 : 0;
    return count;
  };
  const std::string rest = "    self.b = nn.ModuleList([])\n";
  EXPECT_EQ(weights("    self.a = nn.Linear(8, 3)\n" + rest), 0);
  EXPECT_EQ(weights("    self.a = nn.Linear(9, 3)\n" + rest), 1);
  EXPECT_EQ(weights("    self.a = nn.Linear(9, 3)\n" + rest + "  def load_reference(self, s):\n    pass\n"),
            0);
}

TEST(Lint, SarifNamesEveryRuleItReports) {
  const OrderedJson sarif = ToSarif({LintSource("a.py", Kernel("    x = tl.tanh(x)\n"))});
  EXPECT_EQ(sarif["version"], "2.1.0");
  EXPECT_EQ(sarif["runs"][0]["results"][0]["ruleId"], "unknown-triton-op");
  EXPECT_EQ(sarif["runs"][0]["tool"]["driver"]["rules"].size(), AllChecks().size());
}

TEST(Lint, ManyThreadsGetTheSameAnswer) {
  const std::string text = Kernel("    x = tl.tanh(x)\n");
  const std::string expected = DumpJson(ToJson(LintSource("a.py", text)));
  std::vector<std::string> answers(4);
  std::vector<std::thread> threads;
  for (std::string& answer : answers)
    threads.emplace_back([&] { answer = DumpJson(ToJson(LintSource("a.py", text))); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& answer : answers) EXPECT_EQ(answer, expected);
}

TEST(Finding, EditsThatOverlapAreAppliedOnce) {
  Finding first;
  first.edits = {{0, 3, "xyz"}};
  Finding second;
  second.edits = {{2, 4, "!"}};
  Finding third;
  third.edits = {{4, 4, "+"}};
  int applied = 0;
  EXPECT_EQ(ApplyEdits("abcdef", {first, second, third}, &applied), "xyzd+ef");
  EXPECT_EQ(applied, 2);
}

}  // namespace
}  // namespace hone

// Tests what --fix changes in calls of load_inline, and what it leaves alone. bench/lint_fix.py shows on
// tests/golden/corpus that the fixed files compile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/mend.h"
#include "base/text.h"

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kKernel[] =
    "#include <c10/cuda/CUDAException.h>\n"
    "__global__ void k(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i]; }\n";

struct Extension {
  std::string cuda = "torch::Tensor f(torch::Tensor x)";  // the signature that the source defines
  std::string before;                                     // code before it in the source
  std::string after;
  std::string cpp = "cpp_sources=\"torch::Tensor f(torch::Tensor x);\"";
  std::string rest = "functions=[\"f\"]";
  std::string call = "ext.f(x)";
};

std::string FileOf(const Extension& one) {
  return "import torch\nimport torch.nn as nn\nfrom torch.utils.cpp_extension import load_inline\n\n"
         "SOURCE = \"\"\"\n" +
         std::string(kKernel) + one.before + one.cuda +
         " {\n  auto y = torch::empty_like(x);\n  k<<<1, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), "
         "x.numel());\n  C10_CUDA_KERNEL_LAUNCH_CHECK();\n  return y;\n}\n" +
         one.after + "\"\"\"\next = load_inline(name=\"ext\", " + one.cpp + (one.cpp.empty() ? "" : ", ") +
         "cuda_sources=SOURCE" + (one.rest.empty() ? "" : ", ") + one.rest +
         ")\n\n\nclass ModelNew(nn.Module):\n    def forward(self, x):\n        return " + one.call + "\n";
}

MendedSource Mend(const Extension& one) {
  return MendSource("ext.py", FileOf(one));
}

TEST(ExtensionMend, AFileThatIsRightIsLeftAlone) {
  const MendedSource mended = Mend({});
  EXPECT_FALSE(mended.changed());
  EXPECT_FALSE(mended.report.has_errors());
}

TEST(ExtensionMend, ADeclarationIsAddedInEveryKindOfString) {
  struct Row {
    const char* cpp;
    const char* wanted;
  };
  const Row rows[] = {
      {"cpp_sources=\"\"", "cpp_sources=\"torch::Tensor f(torch::Tensor x);\""},
      {"cpp_sources=[\"\"]", "cpp_sources=[\"torch::Tensor f(torch::Tensor x);\"]"},
      {"cpp_sources='void g();'", "cpp_sources='void g();\\ntorch::Tensor f(torch::Tensor x);'"},
      {"cpp_sources=r'void g();'", "cpp_sources=r'void g(); torch::Tensor f(torch::Tensor x);'"},
      {"cpp_sources='// the functions'",
       "cpp_sources='// the functions\\ntorch::Tensor f(torch::Tensor x);'"},
      {"cpp_sources=\"\"\"#include <vector>\"\"\"",
       "cpp_sources=\"\"\"#include <vector>\ntorch::Tensor f(torch::Tensor x);\n\"\"\""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.cpp);
    Extension one;
    one.cpp = row.cpp;
    const MendedSource mended = Mend(one);
    EXPECT_THAT(mended.text, HasSubstr(row.wanted));
    EXPECT_FALSE(mended.report.has_errors());
    EXPECT_FALSE(MendSource("ext.py", mended.text).changed());
  }
}

TEST(ExtensionMend, WhatCannotBeDeclaredIsReportedAndLeftAlone) {
  // A raw string cannot continue a line after a comment. The host compiler does not know half and static.
  Extension raw;
  raw.cpp = "cpp_sources=r'// the functions'";
  Extension half;
  half.cpp = "cpp_sources=\"\"";
  half.cuda = "torch::Tensor f(torch::Tensor x, const __half* scale)";
  Extension internal;
  internal.cpp = "cpp_sources=\"\"";
  internal.before = "static ";
  for (const Extension& one : {raw, half, internal}) {
    const MendedSource mended = Mend(one);
    EXPECT_FALSE(mended.changed()) << mended.text;
    EXPECT_TRUE(mended.report.has_errors());
  }
}

TEST(ExtensionMend, ADeclarationFollowsTheDefinitionThatPythonCalls) {
  Extension one;
  one.cuda = "torch::Tensor f(const torch::Tensor& x, double by = 1.0)";
  one.call = "ext.f(x, 2.0)";
  one.cpp = "cpp_sources=\"torch::Tensor f(torch::Tensor x, float by);\"";
  const MendedSource mended = Mend(one);
  EXPECT_THAT(mended.text,
              HasSubstr("cpp_sources=\"torch::Tensor f(const torch::Tensor& x, double by = 1.0);\""));
  EXPECT_FALSE(mended.report.has_errors());
  // Python passes what the declaration takes but the definition does not, so either may be intended.
  one.call = "ext.f(x)";
  EXPECT_FALSE(Mend(one).changed());
  one.call = "ext.f(*x)";
  EXPECT_FALSE(Mend(one).changed());
}

TEST(ExtensionMend, TheSameTypeUnderAnotherNameIsNoDifference) {
  for (const char* cpp : {"at::Tensor f(at::Tensor input)", "torch::Tensor f(const torch::Tensor x)",
                          "torch::Tensor  f( torch::Tensor\\n x )", "torch::Tensor f(torch::Tensor)"}) {
    Extension one;
    one.cpp = "cpp_sources=\"" + std::string(cpp) + ";\"";
    EXPECT_FALSE(Mend(one).report.has_errors()) << cpp;
  }
  Extension longs;
  longs.cuda = "torch::Tensor f(torch::Tensor x, int64_t n)";
  longs.cpp = "cpp_sources=\"torch::Tensor f(torch::Tensor x, long n);\"";
  longs.call = "ext.f(x, 3)";
  EXPECT_FALSE(Mend(longs).report.has_errors());
}

TEST(ExtensionMend, OneOfTwoBindingsStays) {
  Extension one;
  one.cpp = "cpp_sources=\"\"";
  one.before = "#include <torch/extension.h>\n";
  one.after = "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n  m.def(\"f\", &f);\n}\n";
  const MendedSource own = Mend(one);
  EXPECT_THAT(own.text, HasSubstr("cuda_sources=SOURCE)"));
  EXPECT_THAT(own.text, HasSubstr("PYBIND11_MODULE"));
  // The source binds another name than Python calls; functions= lists the right one.
  one.after = "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n  m.def(\"forward\", &f);\n}\n";
  const MendedSource other = Mend(one);
  EXPECT_THAT(other.text, Not(HasSubstr("PYBIND11_MODULE")));
  EXPECT_THAT(other.text, HasSubstr("functions=[\"f\"]"));
  EXPECT_FALSE(other.report.has_errors());
  // Neither binds the name that Python calls.
  one.call = "ext.g(x)";
  EXPECT_FALSE(Mend(one).changed());
}

TEST(ExtensionMend, ANameThatPythonCallsIsBound) {
  Extension one;
  one.after = "torch::Tensor g(torch::Tensor x) {\n  return x;\n}\n";
  one.call = "ext.g(ext.f(x))";
  const MendedSource list = Mend(one);
  EXPECT_THAT(list.text, HasSubstr("functions=[\"f\", \"g\"]"));
  EXPECT_THAT(list.text, HasSubstr("torch::Tensor f(torch::Tensor x);\\ntorch::Tensor g(torch::Tensor x);"));
  one.rest = "functions=\"f\"";
  EXPECT_THAT(Mend(one).text, HasSubstr("functions=[\"f\", \"g\"]"));
  one.rest = "functions=NAMES";  // an unknown list
  EXPECT_FALSE(Mend(one).changed());
  one.rest = "functions=[\"f\"]";
  one.after.clear();  // nothing defines g
  EXPECT_FALSE(Mend(one).changed());
}

TEST(ExtensionMend, AModuleThatIsBuiltWhenItIsNeededIsFollowed) {
  Extension one;
  one.after = "torch::Tensor g(torch::Tensor x) {\n  return x;\n}\n";
  const std::string file = ReplaceAll(
      ReplaceAll(
          FileOf(one), "ext = load_inline(",
          "_ext = None\n\n\ndef ext():\n    global _ext\n    if _ext is None:\n        _ext = load_inline("),
      "\n\n\nclass ModelNew", "\n    return _ext\n\n\nclass ModelNew");
  const MendedSource mended =
      MendSource("ext.py", ReplaceAll(file, "return ext.f(x)", "return ext().g(ext().f(x))"));
  EXPECT_THAT(mended.text, HasSubstr("functions=[\"f\", \"g\"]"));
  EXPECT_FALSE(MendSource("ext.py", ReplaceAll(file, "return ext.f(x)", "return ext().f(x)")).changed());
}

TEST(ExtensionMend, HeadersComeOnceAndOnlyWhereAllHeadersAreKnown) {
  Extension one;
  one.after =
      "void g() { auto s = at::cuda::getCurrentCUDAStream(); auto t = at::cuda::getCurrentCUDAStream(); }\n";
  const MendedSource mended = Mend(one);
  EXPECT_EQ(mended.fixes.size(), 1u);
  EXPECT_THAT(mended.text, HasSubstr("SOURCE = \"\"\"\n#include <ATen/cuda/CUDAContext.h>\n#include <c10"));
  EXPECT_FALSE(mended.report.has_errors());
  one.before = "#include <my_kernels.cuh>\n";
  EXPECT_FALSE(Mend(one).changed());
  one.before = "#define getCurrentCUDAStream my_stream\n";
  one.after = "void g() { auto s = getCurrentCUDAStream(); }\n";
  EXPECT_FALSE(Mend(one).changed());
}

TEST(ExtensionMend, WordsInCommentsAndStringsAreNoNames) {
  Extension one;
  one.after = "// AT_CHECK and at::cuda::CUDAGuard\nconst char* words() { return \"AT_CHECK(x)\"; }\n";
  EXPECT_FALSE(Mend(one).changed());
}

TEST(ExtensionMend, WhatIsMadeAtRunTimeIsNotKnown) {
  Extension one;
  one.cpp = "cpp_sources=\"\"";
  for (const char* rest :
       {"functions=[\"f\"], **more", "functions=[n for n in [\"f\"]]",
        "functions=[\"f\"], is_python_module=False", "functions=[\"f\"], no_implicit_headers=True"}) {
    one.rest = rest;
    EXPECT_FALSE(Mend(one).changed()) << rest;
  }
}

}  // namespace
}  // namespace hone

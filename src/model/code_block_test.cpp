#include "model/code_block.h"

#include <gtest/gtest.h>

#include <ctime>

#include "base/text.h"

namespace hone {
namespace {

const std::string kFile =
    "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x + 1\n";
const std::string kOther = ReplaceAll(kFile, "x + 1", "x + 2");

std::string Fenced(const std::string& text, const std::string& fence = "```",
                   const std::string& info = "python") {
  return fence + info + "\n" + text + fence + "\n";
}

struct Case {
  const char* name;
  std::string reply;
  std::string expected;  // empty: no usable block
};

class FindsTheCandidate : public testing::TestWithParam<Case> {};

TEST_P(FindsTheCandidate, WhereverItIs) {
  const std::optional<std::string> found = ExtractCandidate(GetParam().reply);
  if (GetParam().expected.empty()) {
    EXPECT_FALSE(found.has_value()) << *found;
    return;
  }
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(*found, GetParam().expected);
}

const std::string kDocstringFence =
    "\"\"\"How to use it:\n\n```python\nm = ModelNew()\n```\n\nThat is all.\n\"\"\"\n" + kFile;
const std::string kBroken =
    "import torch\n\nclass ModelNew(torch.nn.Module:\n    def forward(self, x):\n        return x\n";
const std::string kCuda = "lib = '''\n__global__ void f() {}\n'''\n" + kFile;

std::string Indented(const std::string& text) {
  std::string out;
  for (const std::string& line : Lines(text)) out += (line.empty() ? "" : "   " + line) + "\n";
  return out;
}

INSTANTIATE_TEST_SUITE_P(
    CodeBlock, FindsTheCandidate,
    testing::Values(
        Case{"OneBlock", "Here it is:\n" + Fenced(kFile) + "Enjoy.", kFile},
        Case{"ShortInfo", Fenced(kFile, "```", "py"), kFile}, Case{"NoInfo", Fenced(kFile, "```", ""), kFile},
        Case{"InfoWithBlank", Fenced(kFile, "```", " Python3 title=\"a.py\""), kFile},
        Case{"Tildes", Fenced(kFile, "~~~"), kFile},
        Case{"LongFence", Fenced(kDocstringFence, "````"), kDocstringFence},
        Case{"Unclosed", "Sure.\n```python\n" + kFile, kFile},
        Case{"UnclosedWithoutNewline", "```python\n" + kFile.substr(0, kFile.size() - 1), kFile},
        Case{"FenceInDocstring", Fenced(kDocstringFence) + "Some words.\n", kDocstringFence},
        Case{"FenceInDocstringThenAnotherBlock", Fenced(kDocstringFence) + Fenced("print(1)\n"),
             kDocstringFence},
        Case{"HelpersRightBefore", Fenced("def go(x):\n    return x\n") + Fenced(kFile), kFile},
        Case{"HelpersABlankLineBefore", Fenced("def go(x):\n    return x\n") + "\n" + Fenced(kFile), kFile},
        Case{"CommentsRightBefore", Fenced("#define TILE 64\n", "```", "cuda") + Fenced(kFile), kFile},
        Case{"SnippetFirst", Fenced("x = ModelNew\n") + "then\n" + Fenced(kFile), kFile},
        Case{"CorrectionLast", Fenced(kFile) + "No, better:\n" + Fenced(kOther), kOther},
        Case{"PartialLast",
             Fenced(kFile) + "The class is\n" +
                 Fenced("import torch\nclass ModelNew(torch.nn.Module):\n    ...\n"),
             kFile},
        Case{"BrokenBesideWhole", Fenced(kFile) + Fenced(kBroken + kBroken), kFile},
        Case{"OnlyBroken", "Try\n" + Fenced(kBroken), kBroken},
        Case{"LongestBroken", Fenced(kBroken + "y = (\n") + Fenced(kBroken), kBroken + "y = (\n"},
        Case{"OtherLanguagesAround",
             Fenced("pip install x\n", "```", "bash") + Fenced(kCuda) +
                 Fenced("{\"ModelNew\": 1}\n", "```", "json"),
             kCuda},
        Case{"Bare", kFile, kFile}, Case{"BareAfterProse", "Here is the file.\n\n" + kFile, kFile},
        Case{"BareBroken", kBroken, kBroken},
        Case{"WindowsLineEnds", ReplaceAll(Fenced(kFile), "\n", "\r\n"), kFile},
        Case{"ByteOrderMark", "\xEF\xBB\xBF" + kFile, kFile},
        Case{"ByteOrderMarkInside", Fenced("\xEF\xBB\xBF" + kFile), kFile},
        Case{"InAList", "1. The file:\n\n" + Indented(Fenced(kFile)), kFile},
        Case{"Thinking", "<think>\n" + Fenced(kOther) + "</think>\n" + Fenced(kFile), kFile},
        Case{"ThinkingAfterwards", Fenced(kFile) + "</think>\nDone.", kFile},
        Case{"Assigned", Fenced("import torch\nclass A(torch.nn.Module):\n    pass\nModelNew = A\n"),
             "import torch\nclass A(torch.nn.Module):\n    pass\nModelNew = A\n"},
        Case{"Empty", "", ""}, Case{"Prose", "I would write class ModelNew with a kernel.", ""},
        Case{"NoModelNew", Fenced("import torch\nclass Model:\n    pass\n"), ""},
        Case{"OnlyInAFunction", Fenced("import torch\ndef f():\n    class ModelNew:\n        pass\n"), ""},
        Case{"Nul", Fenced(kFile + std::string("#\0\n", 3)), ""},
        Case{"FencesOnly", "```\n```\n```\nModelNew", ""},
        Case{"InlineCode", "Use `ModelNew` and ```also``` this.\n", ""},
        Case{"BrokenUtf8", Fenced("# \xFF\n" + kFile), "# \xEF\xBF\xBD\n" + kFile}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(CodeBlock, HostileRepliesEndSoon) {
  const size_t kSize = 2u << 20;  // quadratic time would be far too long
  std::string fences = "ModelNew\n";
  while (fences.size() < kSize) fences += "```\n~~~ModelNew\n";
  std::string unclosed = "```python\n# ModelNew\n" + std::string(kSize, 'a');
  std::string strings = "```python\nModelNew = '''\n";
  while (strings.size() < kSize) strings += "```\n(((((((((('ModelNew\n";
  for (const std::string& reply : {fences, unclosed, strings, std::string(kSize, '`') + "ModelNew",
                                   std::string(kSize, '\0') + "ModelNew"}) {
    const std::clock_t start = std::clock();  // processor time, which other load does not change
    ExtractCandidate(reply);
    EXPECT_LT(std::clock() - start, 20 * CLOCKS_PER_SEC);
  }
  EXPECT_EQ(ExtractCandidate(std::string(kSize, 'x') + "\n" + Fenced(kFile)), kFile);
}

}  // namespace
}  // namespace hone

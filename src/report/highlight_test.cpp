#include "report/highlight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"

namespace hone {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::Not;

TEST(Highlight, MarksKeywordsStringsNumbersCommentsAndNames) {
  const std::vector<std::string> lines = HighlightPython(
      "import torch  # why\n@triton.jit\ndef kernel(x, n: tl.constexpr):\n    return 'a' + f\"{n} b\" if "
      "True else 1.5\n");
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], "<span class=\"hk\">import</span> torch  <span class=\"hc\"># why</span>");
  EXPECT_EQ(lines[1], "<span class=\"hd\">@triton.jit</span>");
  EXPECT_THAT(lines[2], HasSubstr("<span class=\"hk\">def</span> <span class=\"hf\">kernel</span>(x, n"));
  EXPECT_THAT(lines[3], HasSubstr("<span class=\"hs\">&#39;a&#39;</span>"));
  EXPECT_THAT(lines[3], HasSubstr("{n}"));
  EXPECT_THAT(lines[3], HasSubstr("<span class=\"hn\">1.5</span>"));
  EXPECT_THAT(lines[3], HasSubstr("<span class=\"hk\">True</span>"));
}

TEST(Highlight, ReadsCudaInsideAStringOfPython) {
  const std::vector<std::string> lines = HighlightPython(
      "source = r\"\"\"\n#include <cuda.h>\n__global__ void add(float* a) { a[0] = 1; } // done\n\"\"\"\nx = "
      "'void'\n");
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_THAT(lines[1], HasSubstr("<span class=\"hk\">#include</span>"));
  EXPECT_THAT(lines[2], HasSubstr("<span class=\"ht\">void</span>"));
  EXPECT_THAT(lines[2], HasSubstr("<span class=\"hf\">add</span>"));
  EXPECT_THAT(lines[2], HasSubstr("<span class=\"hc\">// done</span>"));
  EXPECT_THAT(lines[4], HasSubstr("<span class=\"hs\">&#39;void&#39;</span>"));
}

TEST(Highlight, AStringOverSeveralLinesOpensAndClosesInEach) {
  const std::vector<std::string> lines = HighlightPython("x = '''one\n\ntwo'''\n");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(lines[0], HasSubstr("<span class=\"hs\">&#39;&#39;&#39;one</span>"));
  EXPECT_EQ(lines[1], "");
  EXPECT_THAT(lines[2], HasSubstr("<span class=\"hs\">two&#39;&#39;&#39;</span>"));
}

TEST(Highlight, TextThatIsNoCodeIsEscapedAndKeepsItsLines) {
  const std::string evil = "</code><script>alert(1)</script>\n\x1b[31m \xff '''\n\n\"";
  for (const auto& lines : {HighlightPython(evil), HighlightCuda(evil), HighlightPython("# " + evil)}) {
    EXPECT_EQ(lines.size(), Lines(evil).size());
    EXPECT_THAT(lines, Each(Not(HasSubstr("<script"))));
    EXPECT_THAT(lines, Each(Not(HasSubstr("\x1b"))));
  }
  EXPECT_TRUE(HighlightPython("").empty());
}

}  // namespace
}  // namespace hone

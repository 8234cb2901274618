#include "report/escape.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Escape, TagsAndQuotesBecomeText) {
  EXPECT_EQ(EscapeHtml("<script>alert('x')</script>\"&"),
            "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&quot;&amp;");
}

TEST(Escape, ControlCharactersAreShownNotObeyedAndNotDropped) {
  EXPECT_EQ(EscapeHtml(std::string_view("a\0b", 3)), "a\u2400b");
  EXPECT_EQ(EscapeHtml("\x1b[31mred\x07"), "\u241b[31mred\u2407");
  EXPECT_EQ(EscapeHtml("a\r\nb\tc\x7f"), "a\u240d\nb\tc\u2421");
  EXPECT_EQ(EscapeHtml("\xc2\x9b"), "\ufffd");
}

TEST(Escape, BrokenUtf8BecomesTheReplacementCharacter) {
  EXPECT_EQ(EscapeHtml("ok \xff\xc3( end"), "ok \ufffd\ufffd( end");
  EXPECT_EQ(EscapeHtml("\xed\xa0\x80"), "\ufffd\ufffd\ufffd");
  EXPECT_EQ(EscapeHtml("\xef\xbf\xbe"), "\ufffd");
}

TEST(Escape, LettersThatTurnALineAroundAreNamed) {
  EXPECT_EQ(EscapeHtml("a\u202Eb\u2066c"), "a[U+202E]b[U+2066]c");
}

TEST(Escape, OtherLettersStay) {
  EXPECT_EQ(EscapeHtml("µ × 中文 🙂"), "µ × 中文 🙂");
}

TEST(Escape, AMarkdownCellStaysACell) {
  EXPECT_EQ(EscapeMarkdown("a|b\nc `d` <b> [x](y)"), "a\\|b c \\`d\\` &lt;b&gt; \\[x\\](y)");
}

TEST(Escape, ACsvFieldStaysAFieldAndNoFormula) {
  EXPECT_EQ(EscapeCsv("plain"), "plain");
  EXPECT_EQ(EscapeCsv("a,\"b\"\nc"), "\"a,\"\"b\"\"\nc\"");
  EXPECT_EQ(EscapeCsv("=HYPERLINK(1)"), "\"'=HYPERLINK(1)\"");
  EXPECT_EQ(EscapeCsv(" @x"), "\"' @x\"");
  EXPECT_EQ(EscapeCsv(""), "");
}

TEST(Escape, AnchorsOfDifferentKeysDiffer) {
  EXPECT_EQ(AnchorOf("c-", "seed0.repair1"), "c-seed0-2erepair1");
  EXPECT_NE(AnchorOf("c-", "a.b"), AnchorOf("c-", "a-2eb"));
  EXPECT_EQ(AnchorOf("c-", "\"><script>").find_first_of("\"<> "), std::string::npos);
}

}  // namespace
}  // namespace hone

#include "report/line_diff.h"

#include <gtest/gtest.h>

#include "base/ids.h"
#include "base/text.h"

namespace hone {
namespace {

std::string Text(const std::vector<NumberedLine>& lines) {
  std::string text;
  for (const NumberedLine& line : lines) text += line.kind + line.text + "\n";
  return text;
}

TEST(LineDiff, ShowsWhatWentAndWhatCame) {
  EXPECT_EQ(Text(NumberedDiff("a\nb\nc\n", "a\nx\nc\nd\n")), " a\n-b\n+x\n c\n+d\n");
}

TEST(LineDiff, LineNumbersAreThoseOfEachText) {
  const std::vector<NumberedLine> lines = NumberedDiff("a\nb\nc\n", "b\nc\nd\n");
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0].kind, '-');
  EXPECT_EQ(lines[0].before, 1);
  EXPECT_EQ(lines[1].before, 2);
  EXPECT_EQ(lines[1].after, 1);
  EXPECT_EQ(lines[3].kind, '+');
  EXPECT_EQ(lines[3].after, 3);
}

TEST(LineDiff, TheSameTextHasNoShortDiff) {
  EXPECT_TRUE(ShortDiff("a\nb\n", "a\nb\n").empty());
  EXPECT_TRUE(ShortDiff("", "").empty());
}

TEST(LineDiff, AShortDiffLeavesOutWhatIsFarFromChanges) {
  std::string before, after;
  for (int i = 0; i < 30; ++i) {
    before += "line " + std::to_string(i) + "\n";
    after += i == 15 ? "changed\n" : "line " + std::to_string(i) + "\n";
  }
  EXPECT_EQ(Text(ShortDiff(before, after, 1)),
            "@14 unchanged lines\n line 14\n-line 15\n+changed\n line 16\n@13 unchanged lines\n");
}

TEST(LineDiff, EveryDiffGivesBackBothTexts) {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    std::string before, after;
    const uint64_t lengths[] = {random.Below(30), random.Below(30)};
    for (uint64_t i = 0; i < lengths[0]; ++i)
      before += std::string(1, static_cast<char>('a' + random.Below(4))) + "\n";
    for (uint64_t i = 0; i < lengths[1]; ++i)
      after += std::string(1, static_cast<char>('a' + random.Below(4))) + "\n";
    std::string old_text, new_text;
    for (const NumberedLine& line : NumberedDiff(before, after)) {
      if (line.kind != '+') old_text += line.text + "\n";
      if (line.kind != '-') new_text += line.text + "\n";
    }
    ASSERT_EQ(old_text, before);
    ASSERT_EQ(new_text, after);
  }
}

TEST(LineDiff, TheSmallestChangeIsFound) {
  // Myers' own example, for which five edits suffice.
  int edits = 0;
  for (const NumberedLine& line : NumberedDiff("a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n"))
    edits += line.kind != ' ' ? 1 : 0;
  EXPECT_EQ(edits, 5);
}

TEST(LineDiff, FilesWithNothingInCommonAreReplacedInTime) {
  std::string before, after;
  for (int i = 0; i < 20000; ++i) {
    before += "b" + std::to_string(i) + "\n";
    after += "a" + std::to_string(i) + "\n";
  }
  EXPECT_EQ(NumberedDiff(before, after).size(), 40000u);
}

}  // namespace
}  // namespace hone

#include "base/diff.h"

#include <gtest/gtest.h>

#include <string>

#include "base/ids.h"
#include "base/text.h"

namespace hone {
namespace {

std::string Side(const std::vector<DiffLine>& lines, char left_out) {
  std::string text;
  for (const DiffLine& line : lines)
    if (line.sign != left_out) text += line.text + "\n";
  return text;
}

int Edits(const std::vector<DiffLine>& lines) {
  int count = 0;
  for (const DiffLine& line : lines) count += line.sign != ' ' ? 1 : 0;
  return count;
}

// Computes the length of the longest common subsequence by simple dynamic programming.
int Common(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::vector<int>> table(a.size() + 1, std::vector<int>(b.size() + 1, 0));
  for (size_t i = a.size(); i-- > 0;)
    for (size_t j = b.size(); j-- > 0;)
      table[i][j] = a[i] == b[j] ? 1 + table[i + 1][j + 1] : std::max(table[i + 1][j], table[i][j + 1]);
  return table[0][0];
}

TEST(Diff, WritesHunksAsDiffDoes) {
  const UnifiedDiff diff = MakeUnifiedDiff("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\n",
                                           "a\nb\nX\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\n", "old", "new");
  EXPECT_EQ(
      diff.text,
      "--- old\n+++ new\n@@ -1,6 +1,6 @@\n a\n b\n-c\n+X\n d\n e\n f\n@@ -11,3 +11,4 @@\n k\n l\n m\n+n\n");
  EXPECT_EQ(diff.lines_left_out, 0);
}

TEST(Diff, SaysNothingOfEqualTexts) {
  EXPECT_EQ(MakeUnifiedDiff("a\nb\n", "a\nb\n", "x", "y").text, "");
  EXPECT_EQ(MakeUnifiedDiff("", "", "x", "y").text, "");
}

TEST(Diff, CountsAnEmptySideAsDiffDoes) {
  EXPECT_EQ(MakeUnifiedDiff("", "a\n", "x", "y").text, "--- x\n+++ y\n@@ -0,0 +1 @@\n+a\n");
  EXPECT_EQ(MakeUnifiedDiff("a\nb\n", "", "x", "y").text, "--- x\n+++ y\n@@ -1,2 +0,0 @@\n-a\n-b\n");
}

TEST(Diff, LeavesOutWhatIsOverTheLimitAndSaysSo) {
  std::string after;
  for (int i = 0; i < 50; ++i) after += "line " + std::to_string(i) + "\n";
  const UnifiedDiff diff = MakeUnifiedDiff("", after, "x", "y", 10);
  EXPECT_EQ(diff.lines_left_out, 41);
  EXPECT_EQ(Lines(diff.text).size(), 12U);
}

TEST(Diff, IsCompleteAndShortestOnRandomTexts) {
  Random random(7);
  for (int round = 0; round < 400; ++round) {
    std::string texts[2];
    for (std::string& text : texts)
      for (uint64_t i = random.Below(14); i > 0; --i)
        text += std::string(1, static_cast<char>('a' + random.Below(4))) + "\n";
    const std::vector<DiffLine> lines = DiffLines(texts[0], texts[1]);
    EXPECT_EQ(Side(lines, '+'), texts[0]);
    EXPECT_EQ(Side(lines, '-'), texts[1]);
    const auto a = Lines(texts[0]);
    const auto b = Lines(texts[1]);
    EXPECT_EQ(Edits(lines), static_cast<int>(a.size() + b.size()) - 2 * Common(a, b))
        << texts[0] << "|" << texts[1];
  }
}

TEST(Diff, GivesUpOnTextsWithoutMuchInCommonAndStaysComplete) {
  std::string before;
  std::string after;
  for (int i = 0; i < 3000; ++i) {
    before += "old " + std::to_string(i) + "\n";
    after += "new " + std::to_string(i) + "\n";
  }
  const std::vector<DiffLine> lines = DiffLines(before, after, 100);
  EXPECT_EQ(Side(lines, '+'), before);
  EXPECT_EQ(Side(lines, '-'), after);
}

}  // namespace
}  // namespace hone

#include "base/text_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "base/text_wrap.h"

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(TextWrap, ChineseCharactersAreTwoColumnsWideAndMarksAreNone) {
  EXPECT_EQ(DisplayWidth("abc"), 3);
  EXPECT_EQ(DisplayWidth("加速比 [95%]"), 12);
  EXPECT_EQ(DisplayWidth("（。）"), 6);
  EXPECT_EQ(DisplayWidth("é→"), 2);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1);
  EXPECT_EQ(DisplayWidth("←"), 1);
}

TEST(TextWrap, BreaksAtSpacesAndInsideAWordOnlyWhereItMust) {
  EXPECT_THAT(WrapText("one two three", 8), ElementsAre("one two", "three"));
  EXPECT_THAT(WrapText("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(WrapText("persistent x", 4), ElementsAre("pers", "iste", "nt x"));
  EXPECT_THAT(WrapText("seed0.algorithm.repair1", 18), ElementsAre("seed0.algorithm.", "repair1"));
  EXPECT_THAT(WrapText("  seed0.repair1", 10), ElementsAre("  seed0.", "repair1")) << "an indent is kept";
  EXPECT_THAT(WrapText("", 4), ElementsAre(""));
  EXPECT_EQ(WrapIndented("one two three", 2, 9), "one two\n  three");
}

TEST(TextWrap, ChineseBreaksAnywhereButBeforeAComma) {
  EXPECT_THAT(WrapText("结果正确但更慢", 6), ElementsAre("结果正", "确但更", "慢"));
  EXPECT_THAT(WrapText("结果正，确但", 6), ElementsAre("结果", "正，确", "但"));
  EXPECT_THAT(WrapText("seed0 的速度", 9), ElementsAre("seed0 的", "速度"));
}

TextTable Sample(bool chinese) {
  TextTable table;
  table.columns = {{chinese ? "阶段" : "phase", 3, 0, false},
                   {chinese ? "候选" : "candidate", 0, 12, false},
                   {chinese ? "结论" : "verdict", 0, 10, false},
                   {chinese ? "加速比 [95%]" : "speed-up [95%]", 0, 0, false},
                   {chinese ? "词元" : "tokens", 5, 0, true},
                   {chinese ? "秒" : "seconds", 4, 0, true},
                   {chinese ? "备注" : "note", 2, 20, false}};
  if (chinese) table.left_out_note = "此宽度下未显示：{0}。";
  const std::string note =
      chinese
          ? "每个时间步启动一次内核，而一次启动即可完成所有时间步；其中最快的为 0.61 倍，达到屋顶线的 4%。"
          : "one kernel launch per time step, where one launch for all steps is enough; the fastest "
            "reaches 0.61x, 4% of the roofline";
  for (const char* key : {"seed0", "seed0.algorithm.repair1", "expert:cuda/persistent_recurrent_cluster"})
    table.rows.push_back({chinese ? "算法修复" : "algorithm repair", key,
                          TableCell(chinese ? "否决：输出错误" : "rejected: wrong-output", Tone::kBad),
                          "1.75x [1.70, 1.80]", "12,345", "101.5", note});
  return table;
}

TEST(TextTable, FitsTheWidthInEnglishAndInChineseAndKeepsTheHeader) {
  for (const bool chinese : {false, true})
    for (const int width : {60, 80, 120}) {
      const std::string text = PrintTable(Sample(chinese), width, Style(false));
      for (const std::string& line : Lines(text))
        EXPECT_LE(DisplayWidth(line), width) << width << ":\n" << text;
      EXPECT_THAT(Lines(text)[0], HasSubstr(chinese ? "候选" : "candidate"));
      // Columns that must not be left out are there, on one line or wrapped.
      EXPECT_THAT(text, HasSubstr("1.75x [1.70, 1.80]")) << width;
      EXPECT_THAT(text, HasSubstr("seed0")) << width;
    }
}

TEST(TextTable, LeavesOutTheLeastImportantColumnsAndNamesThem) {
  const std::string narrow = PrintTable(Sample(false), 60, Style(false));
  EXPECT_THAT(Lines(narrow)[0], Not(HasSubstr("tokens")));
  EXPECT_THAT(narrow, HasSubstr("Not shown at this width: phase, tokens, seconds, note"));
  const std::string wide = PrintTable(Sample(false), 300, Style(false));
  EXPECT_THAT(Lines(wide)[0], HasSubstr("tokens"));
  EXPECT_THAT(wide, Not(HasSubstr("Not shown")));
  EXPECT_THAT(PrintTable(Sample(true), 60, Style(false)), HasSubstr("此宽度下未显示："));
}

TEST(TextTable, WrapsALongCellInItsOwnColumn) {
  TextTable table;
  table.columns = {{"key", 0, 0, false}, {"note", 0, 8, false}, {"n", 0, 0, true}};
  table.rows = {{"a", "one two three", "1"}, {"b", "four", "20"}};
  EXPECT_EQ(PrintTable(table, 20, Style(false)),
            "  key  note        n\n"
            "  a    one two     1\n"
            "       three\n"
            "  b    four       20\n");
}

TEST(TextTable, BreaksWordsWhereNothingElseHelps) {
  TextTable table;
  table.columns = {{"fact", 0, 0, false}, {"R1", 0, 12, false}, {"R2", 0, 12, false}};
  table.rows = {{"options", std::string(40, 'x'), std::string(40, 'y')}};
  for (const std::string& line : Lines(PrintTable(table, 30, Style(false))))
    EXPECT_LE(DisplayWidth(line), 30);
}

TEST(TextTable, ColoursDoNotCountAsWidthAndStrangersCannotAddTheirOwn) {
  TextTable table;
  table.columns = {{"verdict", 0, 0, false}, {"x", 0, 0, false}};
  table.rows = {{TableCell("ok", Tone::kGood), "\x1b[31mred"}};
  EXPECT_EQ(PrintTable(table, 40, Style(true)),
            "  \033[1mverdict\033[0m  \033[1mx\033[0m\n  \033[32mok\033[0m       [31mred\n");
}

}  // namespace
}  // namespace hone

#include "report/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

Document Hostile() {
  const std::string evil = "<script>alert(1)</script>\x1b[31m | ``` [x](http://e) \x07";
  Document document;
  document.Title(evil);
  document.Heading(evil);
  document.Paragraph(evil);
  document.Bullet(evil, "hone show `" + evil, {evil});
  document.Table({{"a", "b"}, {evil, evil}});
  document.Code("+" + evil + "\n````\n", "diff");
  return document;
}

TEST(Document, WhatStrangersWroteCannotDriveATerminal) {
  const std::string text = Hostile().Text(Style(false));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\x07")));
}

TEST(Document, WhatStrangersWroteDoesNotBecomeMarkup) {
  const std::string markdown = Hostile().Markdown();
  const std::string before_code = markdown.substr(0, markdown.find("`````diff"));
  EXPECT_THAT(markdown, HasSubstr("`````diff"));
  EXPECT_THAT(before_code.substr(0, before_code.find("hone show")), Not(HasSubstr("<script>")));
  EXPECT_THAT(before_code, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(before_code, HasSubstr("\\[x\\](http://e)"));
  EXPECT_THAT(before_code, HasSubstr(" \\| "));
  EXPECT_THAT(markdown, Not(HasSubstr("\x1b")));
}

TEST(Document, ATableKeepsItsColumnsWhereCharactersAreWide) {
  Document document;
  document.Table({{"阶段", "x"}, {"ab", "y"}});
  EXPECT_EQ(document.Text(Style(false)), "  阶段  x\n  ab    y\n");
  EXPECT_EQ(document.Markdown(), "| 阶段 | x |\n|---|---|\n| ab | y |\n");
}

TEST(Document, BulletsCarryTheirDetailsAndACommand) {
  Document document;
  document.Heading("Next");
  document.Bullet("do this", "hone resume last", {"because"});
  document.Bullet("and that");
  EXPECT_EQ(document.Text(Style(false)),
            "\nNext\n  - do this\n      because\n      hone resume last\n  - and that\n");
  EXPECT_EQ(document.Markdown(), "## Next\n\n- do this\n  - because\n  - `hone resume last`\n- and that\n");
}

TEST(Document, ATableFitsTheWidthOfItsStreamAndSaysWhatItLeftOut) {
  Document document;
  document.SetLeftOutNote("left out: {0}");
  document.Table(
      {{"candidate", "tokens", "note"}, {"seed0", "12,345", "one launch per time step is too many"}},
      {{"", 0, 0, false}, {"", 1, 0, true}, {"", 0, 30, false}});
  EXPECT_EQ(document.Text(Style(false, 44)),
            "  candidate  note\n  seed0      one launch per time step is too\n             many\n"
            "  left out: tokens\n");
}

TEST(Document, ASentenceIsWrappedInAPipeAndNotInMarkdownAndACommandNowhere) {
  Document document;
  const std::string words = std::string(15, 'x') + " " + std::string(15, 'y');
  document.Paragraph(words);
  document.Bullet(words, "hone " + words, {words});
  const std::string x(15, 'x'), y(15, 'y');
  EXPECT_EQ(document.Text(Style(false, 24)), "  " + x + "\n  " + y + "\n  - " + x + "\n    " + y +
                                                 "\n      " + x + "\n      " + y + "\n      hone " + words +
                                                 "\n");
  EXPECT_EQ(document.Markdown(),
            words + "\n\n- " + words + "\n  - " + words + "\n  - `hone " + words + "`\n");
}

}  // namespace
}  // namespace hone

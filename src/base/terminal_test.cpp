#include "base/terminal.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace hone {
namespace {

TEST(Style, WrapsTextOnlyWhenColourIsOn) {
  EXPECT_EQ(Style(false).Red("no"), "no");
  EXPECT_EQ(Style(true).Red("no"), "\033[31mno\033[0m");
  EXPECT_EQ(Style(true).Bold(""), "");
}

TEST(Terminal, AFileIsNeverColoured) {
  FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  EXPECT_FALSE(IsTerminal(file));
  EXPECT_FALSE(UseColour(file));
  std::fclose(file);
}

TEST(Terminal, WithoutATerminalTheWidthIs120UnlessColumnsSaysOtherwise) {
  FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  unsetenv("COLUMNS");
  EXPECT_EQ(PrintWidth(file), 120);
  EXPECT_EQ(Style(file).width(), 120);
  EXPECT_FALSE(Style(file).terminal());
  setenv("COLUMNS", "60", 1);
  EXPECT_EQ(Style(file).width(), 60);
  setenv("COLUMNS", "3", 1);
  EXPECT_EQ(PrintWidth(file), 20);
  unsetenv("COLUMNS");
  std::fclose(file);
}

TEST(Terminal, WidthIsUsableEverywhere) {
  EXPECT_GE(TerminalWidth(), 20);
}

}  // namespace
}  // namespace hone

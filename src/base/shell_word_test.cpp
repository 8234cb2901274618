#include "base/shell_word.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(ShellWord, IsQuotedOnlyWhereItMustBe) {
  EXPECT_EQ(ShellWord("runs/2026_a-b.py"), "runs/2026_a-b.py");
  EXPECT_EQ(ShellWord("exec:python3 my.py"), "'exec:python3 my.py'");
  EXPECT_EQ(ShellWord("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellWord(""), "''");
  EXPECT_EQ(ShellWord("$HOME"), "'$HOME'");
}

}  // namespace
}  // namespace hone

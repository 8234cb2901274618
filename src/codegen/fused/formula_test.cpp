#include "codegen/fused/formula.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace hone::fused {
namespace {

std::string Shown(const Formula& formula) {
  std::vector<std::string> parts;
  for (const Formula& part : formula.parts) parts.push_back(Shown(part));
  switch (formula.kind) {
    case Formula::Kind::kArgument:
      return "$" + std::to_string(formula.argument);
    case Formula::Kind::kNumber:
      return formula.text;
    case Formula::Kind::kCast:
      return "cast " + parts[0];
    case Formula::Kind::kUnary:
      return formula.text + parts[0];
    case Formula::Kind::kBinary:
      return "(" + parts[0] + " " + formula.text + " " + parts[1] + ")";
    case Formula::Kind::kCall:
      break;
  }
  return formula.text + "[" + Join(parts, ", ") + "]";
}

TEST(Formula, BindsOperatorsAsCDoes) {
  struct Row {
    const char* text;
    const char* means;
  };
  for (const Row& row : std::vector<Row>{
           {"$0 + $3 * $1 * $2", "($0 + (($3 * $1) * $2))"},
           {"$0 - $1 - $2", "(($0 - $1) - $2)"},
           {"($C)1 / Sqrt($0 / $1 + $2)", "(cast 1 / Sqrt[(($0 / $1) + $2)])"},
           {"Select($0 >= -$1 && $0 <= $1, ($C)0, $0)", "Select[(($0 >= -$1) && ($0 <= $1)), cast 0, $0]"},
           {"$0 == $1 || !$2 && $3", "(($0 == $1) || (!$2 && $3))"},
           {"AtLeast(Log1p(-$0), ($C)-100)", "AtLeast[Log1p[-$0], cast -100]"},
           {"($C)$0", "cast $0"},
           {"$0 != 0", "($0 != 0)"},
           {"Select($0, ($C)HONE_NAN, ($C)-HONE_INF)", "Select[$0, cast HONE_NAN, cast -HONE_INF]"},
           {"-$2 * ($0 - $1)", "(-$2 * ($0 - $1))"},
       }) {
    const Result<Formula> parsed = ParseFormula(row.text);
    ASSERT_TRUE(parsed.ok()) << parsed.error().message;
    EXPECT_EQ(Shown(*parsed), row.means);
  }
}

TEST(Formula, SaysWhereSomethingIsMissing) {
  for (const char* text : {"", "$", "($0", "Exp($0", "$0 +", "$0 $1", "Exp", "a ? b : c"}) {
    const Result<Formula> parsed = ParseFormula(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_NE(parsed.error().message.find("expected"), std::string::npos);
  }
}

}  // namespace
}  // namespace hone::fused

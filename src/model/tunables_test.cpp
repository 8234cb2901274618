#include "model/tunables.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"

namespace hone {
namespace {

const std::string kSource = R"(# BLOCK_M = 1 stays
import triton.language as tl

HONE_TUNE = {"BLOCK_M": [32, 64, 64, 128], "EPS": (1e-6, -1.0), "ORDER": ["ij", 'j"i'], "PIPELINE": [True, False]}
BLOCK_M = 64  # rows
EPS: float = (1e-6)
ORDER = "i" "j"
PIPELINE = True


def f(BLOCK_M=16):
    BLOCK_M = 2
    return "BLOCK_M = 64", BLOCK_M
)";

TEST(Tunables, AreReadInOrderWithTheirCurrentValues) {
  const Result<std::vector<Tunable>> read = ReadTunables(kSource);
  ASSERT_TRUE(read.ok()) << read.error().message;
  std::string text;
  for (const Tunable& tunable : *read)
    text +=
        fmt::format("{}={} of {}\n", tunable.name, DumpJson(tunable.current), DumpJson(Json(tunable.values)));
  EXPECT_EQ(text,
            "BLOCK_M=64 of [32,64,128]\nEPS=1e-06 of [1e-06,-1.0]\nORDER=\"ij\" of [\"ij\",\"j\\\"i\"]\n"
            "PIPELINE=true of [true,false]\n");
}

TEST(Tunables, ApplyingChangesThoseAssignmentsAndNothingElse) {
  const Result<std::string> applied =
      ApplyTunables(kSource, {{"BLOCK_M", 128}, {"EPS", -1.0}, {"ORDER", "j\"i"}, {"PIPELINE", false}});
  ASSERT_TRUE(applied.ok()) << applied.error().message;
  std::string expected = ReplaceAll(kSource, "BLOCK_M = 64  # rows", "BLOCK_M = 128  # rows");
  expected = ReplaceAll(expected, "(1e-6)\n", "(-1.0)\n");
  expected = ReplaceAll(expected, "\"i\" \"j\"", "\"j\\\"i\"");
  expected = ReplaceAll(expected, "PIPELINE = True", "PIPELINE = False");
  EXPECT_EQ(*applied, expected);
  EXPECT_EQ(*ApplyTunables(kSource, {}), kSource);
}

TEST(Tunables, WhatWasAppliedIsReadBack) {
  const Result<std::string> applied = ApplyTunables(kSource, {{"BLOCK_M", 32}, {"EPS", -1.0}});
  ASSERT_TRUE(applied.ok());
  const Result<std::vector<Tunable>> read = ReadTunables(*applied);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ((*read)[0].current, 32);
  EXPECT_EQ((*read)[1].current, -1.0);
}

TEST(Tunables, ACandidateWithoutThemDeclaresNone) {
  for (const char* source :
       {"", "x = 1\n", "# HONE_TUNE\n", "print('HONE_TUNE = {1: 2}')\n", "def f():\n    HONE_TUNE = 3\n"}) {
    const Result<std::vector<Tunable>> read = ReadTunables(source);
    ASSERT_TRUE(read.ok()) << source << ": " << read.error().message;
    EXPECT_TRUE(read->empty()) << source;
  }
}

struct Bad {
  const char* source;
  const char* message;
};

class RefusesTunables : public testing::TestWithParam<Bad> {};

TEST_P(RefusesTunables, WithASentence) {
  const Result<std::vector<Tunable>> read = ReadTunables(GetParam().source);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().message, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Tunables, RefusesTunables,
    testing::Values(
        Bad{"HONE_TUNE = {'A': [1]}\n", "HONE_TUNE names A, but the file has no module-level A = value"},
        Bad{"HONE_TUNE = {'A': [1]}\ndef f():\n    A = 1\n",
            "HONE_TUNE names A, but the file has no module-level A = value"},
        Bad{"HONE_TUNE = {'A': [1]}\nA = 1\nA = 2\n",
            "A must be assigned once, alone and at module level, to be tuned"},
        Bad{"HONE_TUNE = {'A': [1]}\nA = 1\nA += 2\n",
            "A must be assigned once, alone and at module level, to be tuned"},
        Bad{"HONE_TUNE = {'A': [1]}\nA, B = 1, 2\n",
            "A must be assigned once, alone and at module level, to be tuned"},
        Bad{"HONE_TUNE = {'A': [1]}\nA = B = 1\n",
            "A must be assigned once, alone and at module level, to be tuned"},
        Bad{"HONE_TUNE = {'A': [1]}\nif x:\n    A = 1\n",
            "A must be assigned once, alone and at module level, to be tuned"},
        Bad{"HONE_TUNE = {'A': [1]}\nA = tl.constexpr(1)\n",
            "A must be a plain number, string or boolean to be tuned (no tl.constexpr, no expression)"},
        Bad{"HONE_TUNE = {'A': [1]}\nA = 2 * 8\n",
            "A must be a plain number, string or boolean to be tuned (no tl.constexpr, no expression)"},
        Bad{"HONE_TUNE = {'A': 1}\nA = 1\n", "HONE_TUNE[\"A\"] is not a list of values"},
        Bad{"HONE_TUNE = {'A': []}\nA = 1\n", "HONE_TUNE[\"A\"] has no values"},
        Bad{"HONE_TUNE = {'A': [n]}\nA = 1\n",
            "HONE_TUNE[\"A\"] holds something that is not a plain number, string or boolean"},
        Bad{"HONE_TUNE = {'A': [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]}\nA = 1\n",
            "HONE_TUNE[\"A\"] has 17 values; 16 is the most"},
        Bad{"HONE_TUNE = {'A':[1],'B':[1],'C':[1],'D':[1],'E':[1],'F':[1],'G':[1],'H':[1],'I':[1]}\n",
            "HONE_TUNE has 9 names; 8 is the most"},
        Bad{"HONE_TUNE = {'A': [1], 'A': [2]}\nA = 1\n", "HONE_TUNE names A twice"},
        Bad{"HONE_TUNE = {**x}\n", "HONE_TUNE has a key that is not a plain string"},
        Bad{"HONE_TUNE = {3: [1]}\n", "HONE_TUNE has a key that is not a plain string"},
        Bad{"HONE_TUNE = dict(A=[1])\nA = 1\n",
            "HONE_TUNE must be assigned once, at module level, as a literal dictionary of name to values"},
        Bad{"HONE_TUNE = {}\nHONE_TUNE = {}\n",
            "HONE_TUNE must be assigned once, at module level, as a literal dictionary of name to values"},
        Bad{"HONE_TUNE = {'A': [1]\nA = 1\n",
            "the candidate does not parse, so its HONE_TUNE cannot be read"}));

TEST(Tunables, OnlyDeclaredValuesCanBeApplied) {
  EXPECT_EQ(ApplyTunables(kSource, {{"BLOCK_M", 48}}).error().message,
            "48 is not one of the values HONE_TUNE declares for BLOCK_M");
  EXPECT_EQ(ApplyTunables(kSource, {{"BLOCK_M", 64.0}}).error().message,
            "64.0 is not one of the values HONE_TUNE declares for BLOCK_M");
  EXPECT_EQ(ApplyTunables(kSource, {{"BLOCK_N", 64}}).error().message,
            "the candidate does not declare BLOCK_N in HONE_TUNE");
}

}  // namespace
}  // namespace hone

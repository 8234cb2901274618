#include "cli/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Option, FillsAFieldOfEveryType) {
  bool flag = false;
  int count = 1;
  int64_t tokens = 0;
  double seconds = 0;
  std::string text;
  std::vector<std::string> list = {"old"};
  EXPECT_TRUE(Option("--flag", &flag, "").Assign({"true"}).ok());
  EXPECT_TRUE(Option("--count", &count, "").Assign({"-7"}).ok());
  EXPECT_TRUE(Option("--tokens", &tokens, "").Assign({"5000000000"}).ok());
  EXPECT_TRUE(Option("--seconds", &seconds, "").Assign({"1.5e-1"}).ok());
  EXPECT_TRUE(Option("--text", &text, "").Assign({"a,b"}).ok());
  EXPECT_TRUE(Option("--list", &list, "").SplitAt(',').Assign({"a,b", "c"}).ok());
  EXPECT_TRUE(flag);
  EXPECT_EQ(count, -7);
  EXPECT_EQ(tokens, 5'000'000'000);
  EXPECT_EQ(seconds, 0.15);
  EXPECT_EQ(text, "a,b");
  EXPECT_THAT(list, ElementsAre("a", "b", "c"));
}

std::string NoVowels(const std::string& value) {
  return value.find_first_of("aeiou") == std::string::npos ? "" : "'" + value + "' has a vowel";
}

TEST(Option, SaysWhatIsWrongAndKeepsTheValue) {
  bool flag = true;
  int count = 5;
  double seconds = 2;
  std::string text = "kept";
  std::vector<std::string> list = {"kept"};
  struct Case {
    Option option;
    std::vector<std::string> words;
    const char* message;
  };
  const Case cases[] = {
      {Option("--flag", &flag, ""), {"maybe"}, "'maybe' is neither true nor false"},
      {Option("--count", &count, ""), {"many"}, "'many' is not a whole number"},
      {Option("--count", &count, ""), {"3.5"}, "'3.5' is not a whole number"},
      {Option("--count", &count, ""), {""}, "'' is not a whole number"},
      {Option("--count", &count, ""), {"99999999999"}, "99999999999 is too large"},
      {Option("--count", &count, "").Between(5, 1000), {"4"}, "4 is not between 5 and 1000"},
      {Option("--count", &count, "").Between(5, 1000), {"1001"}, "1001 is not between 5 and 1000"},
      {Option("--count", &count, "").AtLeast(0), {"-1"}, "-1 is less than 0"},
      {Option("--count", &count, ""), {"1", "2"}, "it takes one value"},
      {Option("--seconds", &seconds, "").Positive(), {"0"}, "0 is not more than 0"},
      {Option("--seconds", &seconds, ""), {"nan"}, "'nan' is not a number"},
      {Option("--seconds", &seconds, ""), {"1s"}, "'1s' is not a number"},
      {Option("--text", &text, "").OneOf({"cuda", "cpu"}), {"tpu"}, "'tpu' is not one of cuda, cpu"},
      {Option("--text", &text, "").CheckedBy(NoVowels), {"tea"}, "'tea' has a vowel"},
      {Option("--list", &list, "").OneOf({"a", "b"}).SplitAt(','), {"a,c"}, "'c' is not one of a, b"},
      {Option("WHAT", &list, "").Times(2, 3), {"a"}, "1 values where at least 2 are needed"},
      {Option("WHAT", &list, "").Times(2, 3), {"a", "b", "c", "d"}, "4 values where at most 3 are needed"},
  };
  for (Case one : cases) {
    const Status assigned = one.option.Assign(one.words);
    ASSERT_FALSE(assigned.ok()) << one.message;
    EXPECT_EQ(assigned.error().kind, ErrorKind::kUsage);
    EXPECT_EQ(assigned.error().message, one.message);
  }
  EXPECT_TRUE(flag);
  EXPECT_EQ(count, 5);
  EXPECT_EQ(seconds, 2);
  EXPECT_EQ(text, "kept");
  EXPECT_THAT(list, ElementsAre("kept"));
}

TEST(Option, ShowsItsValueAsText) {
  double seconds = 0.5;
  bool flag = false;
  std::vector<std::string> list = {"a", "b"};
  EXPECT_EQ(Option("--seconds", &seconds, "").ValueText(), "0.5");
  EXPECT_EQ(Option("--flag", &flag, "").ValueText(), "");
  EXPECT_EQ(Option("--list", &list, "").ValueText(), "a,b");
}

TEST(Command, FindsAnOptionByAnyOfItsNames) {
  bool quiet = false;
  bool json = true;
  Command command("bench", "");
  command.Add("-q,--quiet", &quiet, "");
  ASSERT_NE(command.Find("-q"), nullptr);
  EXPECT_EQ(command.Find("-q")->name(), "--quiet");
  EXPECT_EQ(command.Find("--no"), nullptr);
  EXPECT_FALSE(command.WantsJson());
  command.Add("--json", &json, "");
  EXPECT_TRUE(command.WantsJson());
  EXPECT_FALSE(command.Given("--json"));
}

}  // namespace
}  // namespace hone

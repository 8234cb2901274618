#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/ids.h"
#include "base/json.h"
#include "base/plural.h"
#include "base/result.h"
#include "base/text.h"
#include "base/unfinished_files.h"

namespace hone {
namespace {

Result<int> Half(int value) {
  if (value % 2 != 0) return Error{ErrorKind::kInvalid, "odd"};
  return value / 2;
}

Result<int> Quarter(int value) {
  HONE_ASSIGN_OR_RETURN(int half, Half(value).WithContext("first half"));
  HONE_ASSIGN_OR_RETURN(int quarter, Half(half).WithContext("second half"));
  return quarter;
}

TEST(Result, CarriesAValueOrAnErrorWithTheContextOfEveryLevel) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(6).error().message, "second half: odd");
  EXPECT_EQ(Quarter(5).error().message, "first half: odd");
}

TEST(Text, SplitsAndJoinsWithoutLosingEmptyParts) {
  EXPECT_THAT(Split("a,,b", ','), testing::ElementsAre("a", "", "b"));
  EXPECT_THAT(Lines("a\r\nb\n"), testing::ElementsAre("a", "b"));
  EXPECT_EQ(Join({"a", "b"}, ", "), "a, b");
  EXPECT_EQ(Trim("  a b\n"), "a b");
  EXPECT_EQ(ReplaceAll("aXbX", "X", "YX"), "aYXbYX");
}

TEST(Text, WritesBytesInBase64) {  // the examples of RFC 4648
  EXPECT_EQ(Base64(""), "");
  EXPECT_EQ(Base64("f"), "Zg==");
  EXPECT_EQ(Base64("fo"), "Zm8=");
  EXPECT_EQ(Base64("foo"), "Zm9v");
  EXPECT_EQ(Base64("foob"), "Zm9vYg==");
  EXPECT_EQ(Base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(Base64(std::string_view("\xff\0\xfe", 3)), "/wD+");
}

TEST(Text, SpeaksInHumanUnits) {
  EXPECT_EQ(HumanBytes(312), "312 B");
  EXPECT_EQ(HumanBytes(1536), "1.5 KiB");
  EXPECT_EQ(HumanSeconds(0.00085), "850 us");
  EXPECT_EQ(HumanSeconds(130), "2 min 10 s");
  EXPECT_EQ(HumanNumber(0.000412), "4.12e-04");
}

TEST(Text, CountsOneAndMany) {
  EXPECT_EQ(CountAndNoun(0, "run"), "0 runs");
  EXPECT_EQ(CountAndNoun(1, "run"), "1 run");
  EXPECT_EQ(CountAndNoun(2, "run"), "2 runs");
}

TEST(Text, MakesHostileTextSafeForATerminal) {
  EXPECT_EQ(SafeForTerminal("a\x1b[31mb\x07\tc\n"), "a[31mb\tc\n");
  EXPECT_EQ(SafeForTerminal("x\xC2\x9B"
                            "31m"),
            "x31m");
  EXPECT_EQ(ValidUtf8("ok\xFF\xC0\x80"), "ok\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(ValidUtf8("h\xC3\xB6ne"), "h\xC3\xB6ne");
}

TEST(Text, FindsTheWordThatWasMeant) {
  EXPECT_EQ(ClosestWord("bnech", {"bench", "show", "doctor"}), "bench");
  EXPECT_EQ(ClosestWord("zzzzzz", {"bench", "show"}), "");
}

TEST(Json, ListsOfPairsAreObjectsAndOtherListsArrays) {
  EXPECT_EQ(DumpJson(Json{{"b", 1}, {"a", {1, 2}}}), R"({"a":[1,2],"b":1})");
  EXPECT_EQ(DumpJson(OrderedJson{{"b", 1}, {"a", true}}), R"({"b":1,"a":true})");
  EXPECT_EQ(DumpJson(Json::array({"a", 1})), R"(["a",1])");
  EXPECT_EQ(DumpJson(Json{1, "x", nullptr}), R"([1,"x",null])");
  EXPECT_EQ(DumpJson(Json(std::map<std::string, std::vector<int>>{{"k", {1}}})), R"({"k":[1]})");
}

TEST(Json, PrintsWhatItRead) {
  for (const char* text :
       {"null", "true", "-7", "18446744073709551615", "-9223372036854775808", "0.1", "1.0", "1e+300",
        R"("\u0001\n\"é")", "[]", "{}", R"([1,[2,{"a":null}]])", R"({"a":{"b":[]},"c":""})"})
    EXPECT_EQ(DumpJson(*ParseJson(text)), text);
  for (const char* text : {"", "{", "[1,]", "nul", "1 2", "'a'", R"({"a"})"})
    EXPECT_FALSE(ParseJson(text).ok()) << text;
  EXPECT_FALSE(ParseJson(std::string(100000, '[')).ok());
  EXPECT_TRUE(ParseJson(std::string(200, '[') + std::string(200, ']')).ok());
  EXPECT_FALSE(ParseJson(std::string(201, '[') + std::string(201, ']')).ok());
  EXPECT_EQ(DumpJson(*ParseJson(R"({"a":1,"a":2})")), R"({"a":2})") << "the last of two wins";
}

TEST(Json, ComparesNumbersByValueAndObjectsByMembers) {
  EXPECT_EQ(Json(1), Json(1.0));
  EXPECT_EQ(Json(1u), Json(1));
  EXPECT_NE(Json(-1), Json(18446744073709551615u));
  EXPECT_NE(Json(1), Json(true));
  EXPECT_NE(Json("1"), Json(1));
  Json a, b;
  a["x"] = 1, a["y"] = 2;
  b["y"] = 2, b["x"] = 1;
  EXPECT_EQ(a, b);
  b.erase("x");
  EXPECT_NE(a, b);
  b.update({{"x", 1}});
  EXPECT_EQ(a, b);
}

TEST(Json, KeepsMembersInTheirOrder) {
  OrderedJson ordered = {{"z", 1}, {"a", 2}};
  ordered["m"] = 3;
  ordered["z"] = 4;
  EXPECT_EQ(DumpJson(ordered), R"({"z":4,"a":2,"m":3})");
  EXPECT_EQ(DumpJson(Json(ordered)), R"({"a":2,"m":3,"z":4})");
  std::string seen;
  for (const auto& [key, value] : ordered.items()) seen += key + DumpJson(value);
  EXPECT_EQ(seen, "z4a2m3");
}

TEST(Json, ThrowsWhereAValueOfOursIsOfAnotherKind) {
  const Json value = {{"a", 1}};
  EXPECT_THROW(value.at("b"), std::out_of_range);
  EXPECT_THROW(value.at(0), std::logic_error);
  EXPECT_THROW(value.at("a").get<std::string>(), std::logic_error);
  EXPECT_THROW(value.at("a").get<bool>(), std::logic_error);
  EXPECT_EQ(value.at("a").get<double>(), 1);
  Json text = "x";
  EXPECT_THROW(text.push_back(1), std::logic_error);
  EXPECT_THROW(text["k"], std::logic_error);
}

TEST(Json, MovesAPartOfItselfIntoItself) {
  Json value = {{"a", {{"b", {1, 2}}}}};
  value = std::move(value.at("a"));
  EXPECT_EQ(DumpJson(value), R"({"b":[1,2]})");
  const Json taken = std::move(value);
  EXPECT_TRUE(value.is_null());  // NOLINT(bugprone-use-after-move): the test checks the value after a move
}

TEST(Json, ReadersFallBackInsteadOfThrowing) {
  const Json value = *ParseJson(R"({"a":"x","n":3,"f":2.5,"b":true})");
  EXPECT_EQ(GetString(value, "a"), "x");
  EXPECT_EQ(GetString(value, "n", "none"), "none");
  EXPECT_EQ(GetInt(value, "f"), 2);
  EXPECT_EQ(GetNumber(value, "missing", 7), 7);
  EXPECT_TRUE(GetBool(value, "b"));
  EXPECT_EQ(GetString(*ParseJson("[1]"), "a", "none"), "none");
  EXPECT_FALSE(ParseJson("{").ok());
  EXPECT_EQ(DumpJson(Json{{"k", "\xFF"}}), "{\"k\":\"\xEF\xBF\xBD\"}");
}

TEST(Files, RefuseFoldersDevicesAndOversizedFiles) {
  TempFolder folder = *TempFolder::Make("hone-test-");
  EXPECT_THAT(ReadFile(folder.path()).error().message, testing::HasSubstr("is a folder"));
  EXPECT_THAT(ReadFile("/dev/zero").error().message, testing::HasSubstr("not a regular file"));
  EXPECT_EQ(ReadFile(folder.path() / "none").error().kind, ErrorKind::kNotFound);
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "big", std::string(2000, 'x')).ok());
  EXPECT_THAT(ReadFile(folder.path() / "big", 1000).error().message, testing::HasSubstr("larger than"));
  EXPECT_EQ(ReadFile(folder.path() / "big")->size(), 2000u);
}

TEST(Files, WriteKeepsTheModeAndLeavesNoTemporaryBehind) {
  TempFolder folder = *TempFolder::Make("hone-test-");
  const fs::path file = folder.path() / "secret";
  ASSERT_TRUE(WriteFileAtomic(file, "one", 0600).ok());
  ASSERT_TRUE(WriteFileAtomic(file, "two", 0600).ok());
  EXPECT_EQ(*ReadFile(file), "two");
  struct stat info {};
  ASSERT_EQ(stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
}

TEST(Files, WhatAKilledWriterLeftUnfinishedCanBeRemoved) {
  const TempFolder folder = *TempFolder::Make("hone-test-");
  const pid_t writer = fork();
  if (writer == 0) {
    const rlimit none{0, 0};
    const rlimit most{10, 10};
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_FSIZE, &most);  // a write beyond this limit kills the process
    signal(SIGXFSZ, SIG_DFL);
    (void)WriteFileAtomic(folder.path() / "code.py", std::string(100, 'x')).ok();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(writer, &status, 0), writer);
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "notes.tmp", "kept").ok());
  const auto files = [&] {
    return std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator());
  };
  EXPECT_EQ(files(), 2);
  RemoveUnfinishedFiles(folder.path());
  RemoveUnfinishedFiles(folder.path() / "not there");
  EXPECT_EQ(files(), 1);
  EXPECT_TRUE(fs::exists(folder.path() / "notes.tmp"));
}

TEST(Files, TheTemporaryFolderVanishesWithItsOwner) {
  fs::path path;
  {
    TempFolder folder = *TempFolder::Make("hone-test-");
    path = folder.path();
    TempFolder moved = std::move(folder);
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(Ids, HashesAsSha256sumDoes) {
  EXPECT_EQ(Sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_NE(RandomHex(8), RandomHex(8));
  EXPECT_EQ(RandomHex(8).size(), 16u);
}

TEST(Ids, RandomStaysBelowItsBound) {
  Random random(1);
  for (int i = 0; i < 1000; ++i) EXPECT_LT(random.Below(7), 7u);
  EXPECT_EQ(random.Below(0), 0u);
}

TEST(Clock, DeadlinesPass) {
  EXPECT_TRUE(Deadline::After(-1).passed());
  EXPECT_FALSE(Deadline::Never().passed());
  EXPECT_EQ(Deadline::Never().poll_ms(), -1);
  EXPECT_GT(Deadline::After(10).poll_ms(), 9000);
}

}  // namespace
}  // namespace hone

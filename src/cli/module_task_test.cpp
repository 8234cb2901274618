#include "cli/module_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone {
namespace {

using testing::HasSubstr;

TEST(ParseModuleReference, IsAFileAndADottedName) {
  const struct {
    const char* text;
    const char* file;
    const char* name;
  } kCases[] = {
      {"my_code.py:MyModel", "my_code.py", "MyModel"},
      {"a/b c/net.py:small", "a/b c/net.py", "small"},
      {"x.py:models.Small_2", "x.py", "models.Small_2"},
      {"C:/odd.py:Net", "C:/odd.py", "Net"},
  };
  for (const auto& one : kCases) {
    const std::optional<ModuleReference> found = ParseModuleReference(one.text);
    ASSERT_TRUE(found.has_value()) << one.text;
    EXPECT_EQ(*found, (ModuleReference{one.file, one.name})) << one.text;
  }
}

TEST(ParseModuleReference, LeavesOtherTextsAlone) {
  for (const char* text : {"task.py", "task.py:", ":Net", "task.txt:Net", "task.py:2nd", "task.py:a..b",
                           "task.py:a b", "task.py:a-b", "R12", "last", ""})
    EXPECT_FALSE(ParseModuleReference(text).has_value()) << text;
}

TEST(ParseModuleReference, AFileOfThatWholeNameIsTheFile) {
  const Result<TempFolder> folder = TempFolder::Make("module_task_test");
  ASSERT_TRUE(folder.ok());
  const std::string path = (folder->path() / "odd.py:Net").string();
  EXPECT_TRUE(ParseModuleReference(path).has_value());
  ASSERT_TRUE(WriteFileAtomic(path, "class Model: pass\n").ok());
  EXPECT_FALSE(ParseModuleReference(path).has_value());
}

TEST(TaskFileFor, APlainFileStaysAndTakesNoInputs) {
  const Result<fs::path> plain = TaskFileFor("tasks/39_GRU.py", {}, "");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(*plain, "tasks/39_GRU.py");
  const Result<fs::path> with = TaskFileFor("tasks/39_GRU.py", {"make", ""}, "");
  ASSERT_FALSE(with.ok());
  EXPECT_EQ(with.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(with.error().message, HasSubstr("write tasks/39_GRU.py:NAME"));
}

}  // namespace
}  // namespace hone

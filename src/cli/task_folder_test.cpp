#include "cli/task_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(WhyNoTask, IsTheParsersWordNotASubstring) {
  const std::string kNone = "it defines no class Model";
  EXPECT_EQ(WhyNoTask("class Model(torch.nn.Module):\n  pass\n"), "");
  EXPECT_EQ(WhyNoTask("class Net: pass\nModel = Net\n"), "");
  EXPECT_EQ(WhyNoTask("from layers import Model\n"), "");
  EXPECT_EQ(WhyNoTask("from layers import *\n"), "");
  EXPECT_EQ(WhyNoTask("if True:\n  class Model: pass\n"), "");
  EXPECT_EQ(WhyNoTask("class ModelNew: pass\n"), kNone);
  EXPECT_EQ(WhyNoTask("# class Model:\ntext = '''\nclass Model: pass\n'''\n"), kNone);
  EXPECT_EQ(WhyNoTask("def f():\n  class Model: pass\n"), kNone);
  EXPECT_EQ(WhyNoTask("print(1)\n"), kNone);
  EXPECT_EQ(WhyNoTask(""), kNone);
}

TEST(WhyNoTask, AFileThatDoesNotParseIsATaskIfItsTextNamesAClassModel) {
  EXPECT_EQ(WhyNoTask("class Model(:\n"), "");
  EXPECT_EQ(WhyNoTask("def f(:\n  pass\nclass Model(torch.nn.Module):\n  pass\n"), "");
  for (const char* source : {"class Broken(:\n", "class ModelNew(:\n", "class Model_2(:\n", "def f(:\n"})
    EXPECT_THAT(WhyNoTask(source), HasSubstr("does not parse")) << source;
}

class FindTasksTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const fs::path path = folder_.path() / name;
    EXPECT_TRUE(WriteFileAtomic(path, text).ok());
    return path.string();
  }
  static std::vector<std::string> Names(const std::vector<fs::path>& paths) {
    std::vector<std::string> names;
    for (const fs::path& path : paths) names.push_back(path.filename().string());
    return names;
  }

  static std::vector<std::string> Names(const std::vector<SkippedFile>& files) {
    std::vector<std::string> names;
    for (const SkippedFile& one : files) names.push_back(one.path.filename().string() + ": " + one.why);
    return names;
  }

  TempFolder folder_ = *TempFolder::Make("task_folder_test");
};

TEST_F(FindTasksTest, SkipsFilesWithoutAModelAndSaysWhich) {
  Write("40_b.py", "class Model: pass\n");
  Write("39_a.py", "class Model: pass\n");
  Write("helper.py", "def f(): pass\n");
  Write("typo.py", "def f(:\n");
  Write("__init__.py", "class Model: pass\n");
  Write("notes.txt", "class Model: pass\n");
  const Result<FoundTasks> all = FindTasks({folder_.path().string()}, "");
  ASSERT_TRUE(all.ok()) << all.error().message;
  EXPECT_THAT(Names(all->tasks), ElementsAre("39_a.py", "40_b.py"));
  EXPECT_THAT(Names(all->skipped),
              ElementsAre("helper.py: it defines no class Model", HasSubstr("typo.py: it does not parse")));
  const Result<FoundTasks> one = FindTasks({folder_.path().string()}, "40-50");
  ASSERT_TRUE(one.ok()) << one.error().message;
  EXPECT_THAT(Names(one->tasks), ElementsAre("40_b.py"));
  EXPECT_THAT(one->skipped, IsEmpty());
}

TEST_F(FindTasksTest, SaysWhyNothingIsLeft) {
  const std::string helper = Write("1_helper.py", "def f(): pass\n");
  const auto wrong = [](const Result<FoundTasks>& found) {
    return found.ok() ? "nothing" : found.error().message;
  };
  EXPECT_THAT(wrong(FindTasks({helper}, "")), HasSubstr("none of 1 Python files defines a class Model"));
  EXPECT_THAT(wrong(FindTasks({folder_.path().string()}, "900-901")),
              HasSubstr("no task files in " + folder_.path().string() + " in the range 900-901"));
  EXPECT_THAT(wrong(FindTasks({helper}, "x")), HasSubstr("--range 'x'"));
  EXPECT_THAT(wrong(FindTasks({(folder_.path() / "gone").string()}, "")), HasSubstr("gone"));
}

}  // namespace
}  // namespace hone

#include "cli/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "cli/command_line.h"

namespace hone {
namespace {

class ConfigTest : public testing::Test {
 protected:
  ConfigTest() : folder_(*TempFolder::Make("hone-config-")) {
    files_ = {folder_.path() / "user.toml", folder_.path() / "project.toml"};
    Command& optimize = table_.Add("optimize", "");
    optimize.Add("--seeds", &seeds_, "").Between(1, 64);
    optimize.Add("--target", &target_, "");
    optimize.Add("--ladder", &ladder_, "").SplitAt(',');
    optimize.Add("--no-tuning", &no_tuning_, "");
    table_.Add("bench", "").Add("--target", &bench_target_, "");
    unsetenv("HONE_SEEDS");
    unsetenv("HONE_OPTIMIZE_SEEDS");
  }
  ~ConfigTest() override {
    unsetenv("HONE_SEEDS");
    unsetenv("HONE_OPTIMIZE_SEEDS");
  }

  void Write(const fs::path& path, const std::string& text) { ASSERT_TRUE(WriteFileAtomic(path, text).ok()); }
  std::string SourceOf(const std::string& key, const std::vector<Setting>& settings) {
    for (const Setting& setting : settings)
      if (setting.key == key) return setting.source;
    return "?";
  }

  TempFolder folder_;
  ConfigFiles files_;
  CommandTable table_{"hone", "test"};
  int seeds_ = 2;
  std::string target_ = "auto";
  std::string bench_target_ = "auto";
  std::vector<std::string> ladder_;
  bool no_tuning_ = false;
};

TEST_F(ConfigTest, EachLayerIsStrongerThanTheOneBefore) {
  Write(files_.user, "[optimize]\nseeds = 3\n[defaults]\ntarget = \"cpu\"\n");
  ASSERT_TRUE(ApplyConfig(table_, files_).ok());
  EXPECT_EQ(seeds_, 3);
  EXPECT_EQ(bench_target_, "cpu");
  Write(files_.project, "[optimize]\nseeds = 4\n");
  ASSERT_TRUE(ApplyConfig(table_, files_).ok());
  EXPECT_EQ(seeds_, 4);
  setenv("HONE_SEEDS", "5", 1);
  const std::vector<Setting> settings = *ApplyConfig(table_, files_);
  EXPECT_EQ(seeds_, 5);
  EXPECT_EQ(SourceOf("optimize.seeds", settings), "HONE_SEEDS");
  EXPECT_EQ(SourceOf("optimize.target", settings), files_.user.string());
  EXPECT_EQ(SourceOf("optimize.ladder", settings), "default");
  setenv("HONE_OPTIMIZE_SEEDS", "6", 1);
  ASSERT_TRUE(ApplyConfig(table_, files_).ok());
  EXPECT_EQ(seeds_, 6);
  ASSERT_TRUE(ParseCommandLine(table_, {"optimize", "--seeds", "7"}).ok());
  EXPECT_EQ(seeds_, 7);
  EXPECT_EQ(target_, "cpu");
}

TEST_F(ConfigTest, ListsAndFlagsAreTaken) {
  Write(files_.project, "[optimize]\nladder = [\"eager\", \"compile\"]\nno-tuning = true\n");
  ASSERT_TRUE(ApplyConfig(table_, files_).ok());
  EXPECT_THAT(ladder_, testing::ElementsAre("eager", "compile"));
  EXPECT_TRUE(no_tuning_);
}

struct Bad {
  const char* text;
  const char* message;
};

TEST_F(ConfigTest, WhatIsWrongIsSaidWithTheFile) {
  const Bad kBad[] = {{"[optimize]\nseed = 3\n", "did you mean 'seeds'?"},
                      {"[optimise]\nseeds = 3\n", "no command 'optimise'"},
                      {"[optimize]\nseeds = 1000\n", "seeds"},
                      {"[optimize]\nseeds = \"many\"\n", "seeds"},
                      {"seeds = 3\n", "is not a table"},
                      {"[optimize\n", "project.toml:1"}};
  for (const Bad& bad : kBad) {
    Write(files_.project, bad.text);
    const Result<std::vector<Setting>> applied = ApplyConfig(table_, files_);
    ASSERT_FALSE(applied.ok()) << bad.text;
    EXPECT_EQ(applied.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(applied.error().message, testing::HasSubstr(bad.message));
    EXPECT_THAT(applied.error().message, testing::HasSubstr("project.toml"));
  }
}

TEST_F(ConfigTest, NoFilesIsFine) {
  ASSERT_TRUE(ApplyConfig(table_, files_).ok());
  EXPECT_EQ(seeds_, 2);
}

}  // namespace
}  // namespace hone

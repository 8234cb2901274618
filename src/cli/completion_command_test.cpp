// Tests the completion script in bash itself, which runs it and returns its completions.
#include "cli/completion_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/text.h"
#include "cli/commands.h"
#include "process/child.h"

namespace hone {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

// A table with one option of each kind.
struct Sample {
  Sample() : table("hone", "A tool") {
    table.root.Add("--version", std::monostate(), "Print the version");
    Command& bench = table.Add("bench", "Judge one candidate: it's the judge [alone]. More words");
    bench.Add("-j,--json", &json, "Print JSON");
    bench.Add("--target", &target, "Where it runs").OneOf({"cuda", "triton", "cpu"});
    bench.Add("--out", &out, "Folder").Placeholder("DIR");
    bench.Add("--secret", &out, "Not for everyone").Hidden();
    bench.Add("TASK", &task, "The task").Required();
    table.Add("runs", "List the runs");
    table.Add("inner", "For Hone itself").Hidden();
    AddCompletionCommand(table);
  }
  CommandTable table;
  bool json = false;
  std::string target;
  std::string out;
  std::string task;
};

std::string RunShell(const std::vector<std::string>& argv, const fs::path& folder) {
  ChildSpec spec;
  spec.argv = argv;
  spec.env = CurrentEnvironment();
  spec.folder = folder;
  const Result<ExitReport> run = RunProgram(spec, Deadline::After(20));
  if (!run.ok()) return "error: " + run.error().message;
  return run->code == 0 ? run->out : "error: " + run->err;
}

class BashOffers : public ::testing::Test {
 protected:
  std::vector<std::string> After(const std::string& words) {
    const Sample sample;
    const fs::path script = folder_->path() / "completion.bash";
    EXPECT_TRUE(WriteFileAtomic(script, BashCompletion(sample.table)).ok());
    EXPECT_TRUE(WriteFileAtomic(folder_->path() / "candidate.py", "").ok());
    const std::string ask =
        "source completion.bash; COMP_WORDS=(" + words +
        "); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _hone; printf '%s\\n' \"${COMPREPLY[@]}\"";
    const std::string said = RunShell({"/bin/bash", "-euc", ask}, folder_->path());
    return Lines(std::string(Trim(said)));
  }

 private:
  Result<TempFolder> folder_ = TempFolder::Make("completion_test");
};

TEST_F(BashOffers, CommandsFirst) {
  EXPECT_THAT(After("hone ''"), ElementsAre("bench", "runs", "completion"));
  EXPECT_THAT(After("hone be"), ElementsAre("bench"));
  EXPECT_THAT(After("hone --v"), ElementsAre("--version"));
}

TEST_F(BashOffers, TheOptionsOfTheCommandThatWasNamed) {
  EXPECT_THAT(After("hone bench --"), IsSupersetOf({"--json", "--target", "--out", "--help"}));
  EXPECT_THAT(After("hone bench --"), Not(Contains("--secret")));
  EXPECT_THAT(After("hone runs --"), ElementsAre("--help"));
}

TEST_F(BashOffers, TheValuesAnOptionAccepts) {
  EXPECT_THAT(After("hone bench --target ''"), ElementsAre("cuda", "triton", "cpu"));
  EXPECT_THAT(After("hone bench --target c"), ElementsAre("cuda", "cpu"));
  EXPECT_THAT(After("hone completion ''"), ElementsAre("bash", "zsh", "fish"));
}

TEST_F(BashOffers, FilesWhereAFileBelongs) {
  EXPECT_THAT(After("hone bench cand"), ElementsAre("candidate.py"));
  EXPECT_THAT(After("hone bench --out cand"), ElementsAre("candidate.py"));
  EXPECT_THAT(After("hone runs cand"), Not(Contains("candidate.py")));
}

TEST(Completion, SaysNothingOfHiddenCommands) {
  const Sample sample;
  for (const std::string& script :
       {BashCompletion(sample.table), ZshCompletion(sample.table), FishCompletion(sample.table)}) {
    EXPECT_THAT(script, HasSubstr("bench"));
    EXPECT_THAT(script, Not(HasSubstr("inner")));
    EXPECT_THAT(script, Not(HasSubstr("secret")));
  }
}

TEST(Completion, OtherShellsAcceptTheirScripts) {
  const Sample sample;
  Result<TempFolder> folder = TempFolder::Make("completion_test");
  ASSERT_TRUE(folder.ok());
  ASSERT_TRUE(WriteFileAtomic(folder->path() / "zsh", ZshCompletion(sample.table)).ok());
  ASSERT_TRUE(WriteFileAtomic(folder->path() / "fish", FishCompletion(sample.table)).ok());
  int asked = 0;
  for (const char* shell : {"zsh", "fish"}) {
    const fs::path program = FindProgram(shell);
    if (program.empty()) continue;
    ++asked;
    EXPECT_EQ(RunShell({program.string(), "-n", shell}, folder->path()), "") << shell;
  }
  if (asked == 0) GTEST_SKIP() << "neither zsh nor fish is installed";
}

}  // namespace
}  // namespace hone

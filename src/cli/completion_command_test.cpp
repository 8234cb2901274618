// The completion script is only right if a shell says so: bash runs it and is asked what it would offer.
#include "cli/completion_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/text.h"
#include "process/child.h"

namespace hone {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

// A tree with one of everything.
struct Tree {
  Tree() {
    app.set_version_flag("--version", "1");
    CLI::App* bench = app.add_subcommand("bench", "Judge one candidate: it's the judge [alone]. More words");
    bench->add_flag("-j,--json", json, "Print JSON");
    bench->add_option("--target", target, "Where it runs")->check(CLI::IsMember({"cuda", "triton", "cpu"}));
    bench->add_option("--out", out, "Folder")->type_name("DIR");
    bench->add_option("--secret", out, "Not for everyone")->group("");
    bench->add_option("task", task, "The task")->required();
    app.add_subcommand("runs", "List the runs");
    app.add_subcommand("inner", "For Hone itself")->group("");
    AddCompletionCommand(app, &exit_code);
  }
  CLI::App app{"A tool", "hone"};
  bool json = false;
  std::string target;
  std::string out;
  std::string task;
  int exit_code = -1;
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
    const Tree tree;
    const fs::path script = folder_->path() / "completion.bash";
    EXPECT_TRUE(WriteFileAtomic(script, BashCompletion(DescribeForCompletion(tree.app))).ok());
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
  const Tree tree;
  const CompletionCommand root = DescribeForCompletion(tree.app);
  for (const std::string& script : {BashCompletion(root), ZshCompletion(root), FishCompletion(root)}) {
    EXPECT_THAT(script, HasSubstr("bench"));
    EXPECT_THAT(script, Not(HasSubstr("inner")));
    EXPECT_THAT(script, Not(HasSubstr("secret")));
  }
}

TEST(Completion, OtherShellsAcceptTheirScripts) {
  const Tree tree;
  const CompletionCommand root = DescribeForCompletion(tree.app);
  Result<TempFolder> folder = TempFolder::Make("completion_test");
  ASSERT_TRUE(folder.ok());
  ASSERT_TRUE(WriteFileAtomic(folder->path() / "zsh", ZshCompletion(root)).ok());
  ASSERT_TRUE(WriteFileAtomic(folder->path() / "fish", FishCompletion(root)).ok());
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

// Tests the parser and the help, on a small table and on Hone's own.
#include "cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/config.h"
#include "cli/help.h"

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class CommandLineTest : public testing::Test {
 protected:
  CommandLineTest() : table_("hone", "A tool") {
    table_.root.Add("--version", std::monostate(), "Print the version");
    Command& bench = table_.Add("bench", "Judge candidates");
    bench.Add("TASK", &task_, "The task").Required();
    bench.Add("CANDIDATE", &candidates_, "The candidates");
    bench.Add("-q,--quiet", &quiet_, "Print nothing");
    bench.Add("--json", &json_, "Print JSON");
    bench.Add("--md", &markdown_, "Print Markdown").Excludes("--json");
    bench.Add("--target", &target_, "Where it runs").OneOf({"cuda", "cpu"});
    bench.Add("--trials", &trials_, "Number of cases").Between(5, 1000).Group("Judge");
    bench.Add("--csv", &csv_, "Write CSV").Placeholder("FILE").WithoutValue("-");
    bench.Add("--tag", &tags_, "Tags").SplitAt(',').Hidden();
    bench.Add("--secret", &csv_, "Not for everyone").Hidden();
    bench.Note("A note.").Example("hone bench a.py b.py", "judges b.py");
    bench.Runs([this]() -> Result<int> { return trials_; });
    table_.Add("runs", "List the runs").Runs([]() -> Result<int> { return 0; });
  }

  std::string Wrong(const std::vector<std::string>& words) {
    const Result<CommandLine> line = ParseCommandLine(table_, words);
    if (line.ok()) return "nothing";
    EXPECT_EQ(line.error().kind, ErrorKind::kUsage);
    return line.error().message;
  }

  CommandTable table_;
  std::string task_, target_ = "cpu", csv_;
  std::vector<std::string> candidates_, tags_;
  bool quiet_ = false, json_ = false, markdown_ = false;
  int trials_ = 5;
};

TEST_F(CommandLineTest, FillsTheFieldsAndFindsTheCommand) {
  const Result<CommandLine> line =
      ParseCommandLine(table_, {"bench", "t.py", "a.py", "b.py", "-q", "--trials=7", "--target", "cuda"});
  ASSERT_TRUE(line.ok()) << line.error().message;
  ASSERT_NE(line->command, nullptr);
  EXPECT_EQ(line->command->name(), "bench");
  EXPECT_EQ(*line->command->Run(), 7);
  EXPECT_EQ(task_, "t.py");
  EXPECT_THAT(candidates_, ElementsAre("a.py", "b.py"));
  EXPECT_TRUE(quiet_);
  EXPECT_EQ(target_, "cuda");
  EXPECT_TRUE(line->command->Given("--trials"));
  EXPECT_FALSE(line->command->Given("--json"));
}

TEST_F(CommandLineTest, AListTakesOneValueEachTimeItIsNamed) {
  ASSERT_TRUE(ParseCommandLine(table_, {"bench", "--tag", "a,b", "--tag", "c", "t.py", "d.py"}).ok());
  EXPECT_THAT(tags_, ElementsAre("a", "b", "c"));
  EXPECT_EQ(task_, "t.py");
  EXPECT_THAT(candidates_, ElementsAre("d.py"));
}

TEST_F(CommandLineTest, AnOptionMayStandWithoutItsValue) {
  ASSERT_TRUE(ParseCommandLine(table_, {"bench", "t.py", "--csv"}).ok());
  EXPECT_EQ(csv_, "-");
}

TEST_F(CommandLineTest, AWrongWordPointsToTheHelpOfItsCommand) {
  EXPECT_EQ(Wrong({"bench", "t.py", "--trails", "7"}),
            "there is no option --trails; did you mean `--trials`?\nsee `hone bench --help`");
  EXPECT_EQ(Wrong({"bench", "--trails"}),
            "there is no option --trails; did you mean `--trials`?\nsee `hone bench --help`");
  EXPECT_EQ(Wrong({"bench", "t.py", "--target", "tpu"}),
            "--target: 'tpu' is not one of cuda, cpu\nsee `hone bench --help`");
  EXPECT_EQ(Wrong({"bench", "t.py", "--trials", "0"}),
            "--trials: 0 is not between 5 and 1000\nsee `hone bench --help`");
  EXPECT_EQ(Wrong({"runs", "extra"}), "'extra' is one argument too many\nsee `hone runs --help`");
  EXPECT_EQ(Wrong({"bnech"}), "there is no command 'bnech'; did you mean `hone bench`?\nsee `hone --help`");
  EXPECT_EQ(Wrong({}), "a command is needed\nsee `hone --help`");
  EXPECT_EQ(Wrong({"--no-such"}), "there is no option --no-such\nsee `hone --help`");
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"bench"}, {"bench", "t.py", "--target"}, {"bench", "t.py", "--json", "--md"}})
    EXPECT_THAT(Wrong(words), HasSubstr("\nsee `hone bench --help`"));
  EXPECT_THAT(Wrong({"bench"}), HasSubstr("TASK"));
  EXPECT_THAT(Wrong({"bench", "t.py", "--target"}), HasSubstr("--target"));
}

TEST_F(CommandLineTest, HelpIsWrittenFromTheTable) {
  const Result<CommandLine> line = ParseCommandLine(table_, {"bench", "--help"});
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(line->command, nullptr);
  EXPECT_EQ(CommandHelp(table_, table_.commands[0], 80),
            "Judge candidates\n"
            "\n"
            "Usage: hone bench [OPTIONS] TASK [CANDIDATE...]\n"
            "\n"
            "Arguments:\n"
            "  TASK          The task\n"
            "  CANDIDATE...  The candidates\n"
            "\n"
            "Options:\n"
            "  -h, --help         Print this help and exit\n"
            "  -q, --quiet        Print nothing\n"
            "  --json             Print JSON\n"
            "  --md               Print Markdown (not with --json)\n"
            "  --target cuda|cpu  Where it runs (default: cpu)\n"
            "  --csv [FILE]       Write CSV\n"
            "\n"
            "Judge:\n"
            "  --trials N  Number of cases (default: 5)\n"
            "\n"
            "A note.\n"
            "\n"
            "Examples:\n"
            "  hone bench a.py b.py  # judges b.py\n");
  EXPECT_EQ(line->text.substr(0, 17), "Judge candidates\n");
  const Result<CommandLine> root = ParseCommandLine(table_, {"--help"});
  ASSERT_TRUE(root.ok());
  EXPECT_THAT(root->text, HasSubstr("  runs   List the runs\n"));
  const Result<CommandLine> version = ParseCommandLine(table_, {"--version"});
  ASSERT_TRUE(version.ok());
  EXPECT_EQ(version->text, "hone " HONE_VERSION "\n");
}

// The words of a line's first command, up to a pipe, a redirection or &&, without quotes.
std::vector<std::string> ShellWords(const std::string& line) {
  std::vector<std::string> words = {""};
  char quote = 0;
  for (const char c : line) {
    if (quote == 0 && (c == '|' || c == '>' || c == '&')) break;
    if (quote == 0 && c == ' ') {
      if (!words.back().empty()) words.emplace_back();
    } else if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else {
      words.back() += c;
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

// The commands that are visible to users.
class HonesOwnTable : public testing::Test {
 protected:
  HonesOwnTable() : table_("hone", "Hone") { AddAllCommands(table_, &settings_); }
  std::vector<Setting> settings_;
  CommandTable table_;
};

TEST_F(HonesOwnTable, EveryCommandHasExamplesThatItAccepts) {
  for (const Command& command : table_.commands) {
    EXPECT_THAT(command.examples(), Not(IsEmpty())) << command.name();
    for (const auto& [line, comment] : command.examples()) {
      std::vector<std::string> words = ShellWords(line);
      if (words.empty() || words[0] != "hone") continue;
      words.erase(words.begin());
      std::vector<Setting> settings;
      CommandTable table("hone", "Hone");
      AddAllCommands(table, &settings);
      const Result<CommandLine> parsed = ParseCommandLine(table, words);
      EXPECT_TRUE(parsed.ok()) << line << ": " << parsed.error().message;
    }
  }
}

TEST_F(HonesOwnTable, HelpFitsTheTerminalAndHasNoEmptyText) {
  for (const Command& command : table_.commands) {
    EXPECT_FALSE(command.summary().empty()) << command.name();
    for (const Option& option : command.options()) {
      EXPECT_GT(option.help().size(), 8u) << command.name() << " " << option.name();
      EXPECT_FALSE(EndsWith(option.help(), ".")) << command.name() << " " << option.name();
    }
    const std::string help = CommandHelp(table_, command, 80);
    const std::string rows = help.substr(0, help.find("\nExamples:"));
    for (const std::string& line : Lines(rows)) EXPECT_LE(line.size(), 80u) << line;
  }
  for (const std::string& line : Lines(ProgramHelp(table_, 80))) EXPECT_LE(line.size(), 80u) << line;
}

TEST_F(HonesOwnTable, HelpIsWrittenInShortSentences) {
  for (const Command& command : table_.commands)
    for (const Option& option : command.options())
      for (const std::string& sentence :
           Split(ReplaceAll(ReplaceAll(option.help(), ". ", "\n"), "; ", "\n"), '\n')) {
        const std::vector<std::string> words = Split(sentence, ' ');
        EXPECT_LE(words.size(), 22u) << command.name() << " " << option.name() << ": " << sentence;
      }
}

TEST(JudgeFlagsTest, LadderIsTheFormerNameOfBaselines) {
  for (const char* name : {"--baselines", "--ladder"}) {
    CommandTable table("hone", "A tool");
    Command& bench = table.Add("bench", "Judge candidates");
    JudgeFlags flags;
    AddJudgeFlags(bench, &flags);
    ASSERT_TRUE(ParseCommandLine(table, {"bench", name, "eager,cudagraph"}).ok()) << name;
    EXPECT_THAT(flags.ladder, ElementsAre("eager", "cudagraph")) << name;
    EXPECT_FALSE(ParseCommandLine(table, {"bench", name, "fast"}).ok()) << name;
    EXPECT_THAT(CommandHelp(table, bench, 80),
                testing::AllOf(HasSubstr("--baselines"), Not(HasSubstr("--ladder"))));
  }
}

}  // namespace
}  // namespace hone

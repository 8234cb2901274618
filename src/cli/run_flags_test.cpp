#include "cli/run_launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/files.h"
#include "pipeline/recorded_run.h"

namespace hone {
namespace {

// As the command line is read: the words of FlagsFor go into the table that they came from.
RunOptions ReadBack(const std::vector<std::string>& words) {
  OptimizeFlags flags;
  Command command("optimize", "");
  AddRunFlags(command, &flags);
  std::map<std::string, std::vector<std::string>> given;
  for (size_t i = 0; i < words.size(); ++i) {
    const size_t equals = words[i].find("=");
    const std::string name = words[i].substr(0, equals);
    const auto option = std::find_if(command.options().begin(), command.options().end(),
                                     [&](const Option& one) { return one.name() == name; });
    EXPECT_NE(option, command.options().end()) << name;
    if (option == command.options().end()) continue;
    std::vector<std::string>& values = given[name];
    if (equals != std::string::npos)
      values.push_back(words[i].substr(equals + 1));
    else
      values.push_back(option->takes_value() ? words[++i] : "true");
  }
  for (Option& option : command.options()) {
    if (given.count(option.name()) == 0) continue;
    const Status assigned = option.Assign(given[option.name()]);
    EXPECT_TRUE(assigned.ok()) << option.name() << ": " << assigned.error().message;
  }
  return OptionsOf(flags);
}

RunOptions Unusual() {
  RunOptions options;
  options.proposer = "expert+replay:/a/recording";
  options.seeds = 5;
  options.repairs = 1;
  options.analysis = false;
  options.class_check = false;
  options.tuning = false;
  options.tune_trials = 7;
  options.again = true;
  options.judge_at_most = 2;
  options.search = "population";
  options.patience = 9;
  options.breadth = 3;
  options.replies = 2;
  options.seed_from = {"earlier run"};
  options.search_seed = 0xF000000000000001ULL;
  options.budget.calls = 12;
  options.budget.tokens = 5000;
  options.budget.evaluations = 3;
  JudgeFlags judge;
  judge.target = "cpu";
  judge.trials = 8;
  judge.ladder = {"eager", "tf32"};
  judge.error_factor = 3.5;
  options.judge = ToJson(judge);
  options.model = ToJson(ModelFlags());
  return options;
}

TEST(RunFlags, FlagsGiveTheOptionsBack) {
  const RunOptions options = Unusual();
  EXPECT_EQ(DumpJson(ToJson(ReadBack(FlagsFor(options)))), DumpJson(ToJson(options)));
}

TEST(RunFlags, FlagsNameOnlyWhatIsUnusual) {
  RunOptions options;
  options.breadth = 0;
  options.search = "auto";
  EXPECT_THAT(FlagsFor(options), testing::IsEmpty());
  options.seeds = 3;
  options.tuning = false;
  EXPECT_THAT(FlagsFor(options), testing::ElementsAre("--seeds", "3", "--no-tuning"));
}

TEST(RunFlags, ARunWithAModelGoesOnAfterItsOpening) {
  const TempFolder folder = std::move(*TempFolder::Make("hone-flags-"));
  const std::string plain = (folder.path() / "plain").string();
  const std::string search = (folder.path() / "search").string();
  ASSERT_TRUE(MakeFolders(plain).ok());
  ASSERT_TRUE(MakeFolders(search).ok());
  ASSERT_TRUE(
      WriteFileAtomic(fs::path(search) / "search.json",
                      R"({"version": 1, "steps": [{"step": 1, "operator": "restart", "parents": []}]})")
          .ok());
  const struct {
    std::vector<std::string> words;
    const char* search;
  } kRuns[] = {
      {{}, "classic"},
      {{"--max-calls", "9"}, "classic"},
      {{"--proposer", "agent:a", "--max-minutes", "9"}, "classic"},
      {{"--proposer", "llm"}, "population"},
      {{"--proposer", "exec:a"}, "population"},
      {{"--proposer", "llm", "--max-evaluations", "9"}, "population"},
      {{"--proposer", "llm", "--search", "classic"}, "classic"},
      {{"--proposer", "llm", "--max-calls", "9"}, "population"},
      {{"--proposer", "exec:a", "--max-calls", "9"}, "population"},
      {{"--proposer", "llm", "--max-usd", "0.5"}, "population"},
      {{"--proposer", "llm", "--max-tokens", "900"}, "population"},
      {{"--proposer", "llm", "--max-minutes", "0.5"}, "population"},
      {{"--proposer", "llm", "--patience", "24"}, "population"},
      {{"--proposer", "llm", "--max-calls", "9", "--search", "classic"}, "classic"},
      {{"--proposer", "expert+llm"}, "population"},
      {{"--proposer", "llm", "--seed-from", "R1"}, "population"},
      {{"--proposer", "replay:" + plain}, "classic"},
      {{"--proposer", "replay:" + plain, "--max-calls", "9"}, "classic"},
      {{"--proposer", "replay:" + plain, "--patience", "9"}, "classic"},
      {{"--proposer", "expert+replay:" + plain}, "population"},
      {{"--proposer", "replay:" + search}, "population"},
      {{"--proposer", "replay:" + search, "--search", "classic"}, "classic"},
  };
  for (const auto& run : kRuns) {
    const RunOptions options = ReadBack(run.words);
    EXPECT_EQ(options.search, run.search) << testing::PrintToString(run.words);
    EXPECT_EQ(ReadBack(FlagsFor(options)).search, run.search) << testing::PrintToString(run.words);
  }
}

TEST(RunFlags, WithoutABudgetTheSearchIsLessPatient) {
  const TempFolder folder = std::move(*TempFolder::Make("hone-flags-"));
  const struct {
    std::vector<std::string> words;
    int patience;
  } kRuns[] = {
      {{}, 24},
      {{"--patience", "7"}, 7},
      {{"--proposer", "llm"}, 8},
      {{"--proposer", "expert+exec:a"}, 8},
      {{"--proposer", "llm", "--max-evaluations", "9"}, 8},
      {{"--proposer", "llm", "--patience", "24"}, 24},
      {{"--proposer", "llm", "--patience", "8"}, 8},
      {{"--proposer", "llm", "--search", "classic"}, 24},
      {{"--proposer", "llm", "--max-calls", "9"}, 24},
      {{"--proposer", "llm", "--max-usd", "0.5"}, 24},
      {{"--proposer", "llm", "--max-tokens", "900"}, 24},
      {{"--proposer", "llm", "--max-minutes", "0.5"}, 24},
      {{"--proposer", "expert+replay:" + folder.path().string()}, 24},
  };
  for (const auto& run : kRuns) {
    const RunOptions options = ReadBack(run.words);
    EXPECT_EQ(options.patience, run.patience) << testing::PrintToString(run.words);
    EXPECT_EQ(ReadBack(FlagsFor(options)).patience, run.patience) << testing::PrintToString(run.words);
  }
}

TEST(RunFlags, AReplayAsksWithTheOptionsOfItsRun) {
  RunOptions options = Unusual();
  options.proposer = "expert+llm";
  options.budget.usd = 2;
  options.budget.minutes = 3;
  RunRecord run;
  run.status = "stopped";
  const RunOptions replay = ReplayOptions(options, run, 33, "/a/recording");
  EXPECT_EQ(replay.proposer, "expert+replay:/a/recording");
  EXPECT_EQ(ReplayFolder(replay), "/a/recording");
  EXPECT_EQ(replay.budget.calls, 33) << "what it came to before it was stopped";
  EXPECT_EQ(replay.budget.usd, 0) << "a replay spends nothing";
  EXPECT_EQ(replay.budget.minutes, 0);
  EXPECT_EQ(replay.search_seed, options.search_seed);
  run.status = "done";
  EXPECT_EQ(ReplayOptions(options, run, 33, "/a/recording").budget.calls, 12);
}

}  // namespace
}  // namespace hone

#include "cli/model_flags.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"
#include "base/text.h"

namespace hone {
namespace {

using testing::HasSubstr;

RunOptions RunWith(const std::string& proposer, const ModelFlags& flags) {
  RunOptions options;
  options.proposer = proposer;
  options.model = ToJson(flags);
  return options;
}

TEST(ModelFlags, ASecondModelIsRefusedWhereNothingWouldAskIt) {
  ModelFlags flags;
  flags.model = "strong";
  flags.model_repair = "cheap";
  EXPECT_TRUE(CheckModelRoles(RunWith("llm", flags)).ok());
  EXPECT_TRUE(CheckModelRoles(RunWith("expert+llm", flags)).ok());
  EXPECT_TRUE(CheckModelRoles(RunWith("expert", flags)).ok()) << "as with --model: hone.toml may name one";
  for (const char* proposer : {"exec:my_program", "replay:folder", "expert+exec:my_program"}) {
    const Status status = CheckModelRoles(RunWith(proposer, flags));
    ASSERT_FALSE(status.ok()) << proposer;
    EXPECT_EQ(status.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(status.error().message, HasSubstr("--model-repair is for --proposer llm and expert+llm"));
  }
}

TEST(ModelFlags, OptionsOfTheSecondModelNeedIt) {
  for (std::string ModelFlags::*option :
       {&ModelFlags::api_base_repair, &ModelFlags::api_key_env_repair, &ModelFlags::api_key_file_repair,
        &ModelFlags::extra_repair, &ModelFlags::reasoning_effort_repair}) {
    ModelFlags flags;
    flags.model = "strong";
    flags.*option = "low";
    EXPECT_FALSE(CheckModelRoles(RunWith("llm", flags)).ok());
    flags.model_repair = "cheap";
    EXPECT_TRUE(CheckModelRoles(RunWith("llm", flags)).ok());
  }
}

TEST(ModelFlags, ARecordKeepsThemAndAnOlderOneHasOneKey) {
  ModelFlags flags;
  flags.model_repair = "cheap";
  flags.api_key_env_repair = "OTHER_KEY";
  flags.api_key_file_repair = "/a/file";
  flags.extra_repair = "{}";
  flags.reasoning_effort_repair = "low";
  Json kept = ToJson(flags);
  const ModelFlags read = ModelFlagsFromJson(kept);
  EXPECT_EQ(ToJson(read), kept);
  EXPECT_EQ(read.api_key_env_repair, "OTHER_KEY");
  EXPECT_EQ(read.reasoning_effort_repair, "low");
  EXPECT_FALSE(read.one_key);
  for (const char* name :
       {"api_key_env_repair", "api_key_file_repair", "extra_repair", "reasoning_effort_repair"})
    kept.erase(name);
  EXPECT_TRUE(ModelFlagsFromJson(kept).one_key);
  EXPECT_FALSE(ModelFlags().one_key);
}

TEST(ModelFlags, WhatIsWrongWithTheSecondModelNamesItsOption) {
  ModelFlags flags;
  flags.model = "strong";
  flags.model_repair = "cheap";
  flags.api_base = "http://127.0.0.1:9";
  flags.extra_repair = "[1]";
  const Result<std::unique_ptr<Model>> model = ModelOf(RunWith("llm", flags));
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.error().message, HasSubstr("--request-extra-repair must be a JSON object"));
  flags.extra_repair.clear();
  flags.api_key_env_repair = "HONE_NO_SUCH_VARIABLE";
  EXPECT_THAT(ModelOf(RunWith("llm", flags)).error().message,
              HasSubstr("HONE_NO_SUCH_VARIABLE holds no key"));
}

TEST(ModelFlags, AnyPlainWordIsAnEffort) {
  ModelFlags flags;
  Command command("optimize", "");
  AddModelFlags(command, &flags);
  for (const char* name : {"--reasoning-effort", "--reasoning-effort-repair"}) {
    const auto option = std::find_if(command.options().begin(), command.options().end(),
                                     [&](const Option& one) { return one.name() == name; });
    ASSERT_NE(option, command.options().end());
    for (const char* word : {"none", "minimal", "low", "medium", "high", "xhigh", "max", "some-new_word2"})
      EXPECT_TRUE(option->Assign({word}).ok()) << word;
    for (const char* word :
         {"", "two words", "High", "low\"}", "a-word-that-is-longer-than-any-word-of-a-server"}) {
      const Status assigned = option->Assign({word});
      ASSERT_FALSE(assigned.ok()) << word;
      EXPECT_THAT(assigned.error().message, HasSubstr("none, minimal, low, medium, high, xhigh or max"));
    }
  }
  EXPECT_EQ(flags.reasoning_effort, "some-new_word2");
  EXPECT_EQ(flags.reasoning_effort_repair, "some-new_word2");
}

std::string WhyRefused(RunOptions options, const Budget& budget) {
  options.budget = budget;
  const Status limits = CheckSpendLimits(options);
  if (limits.ok()) return "";
  EXPECT_EQ(limits.error().kind, ErrorKind::kUsage);
  const Result<std::unique_ptr<Model>> model = ModelOf(options);
  EXPECT_FALSE(model.ok()) << "a new run and a resumed one both open their model";
  if (!model.ok()) {
    EXPECT_EQ(model.error().message, limits.error().message);
  }
  return limits.error().message;
}

TEST(ModelFlags, ALimitOfMoneyNeedsThePriceOfEveryModel) {
  const Result<TempFolder> folder = TempFolder::Make("hone-limits");
  const fs::path list = folder->path() / "prices.json";
  ASSERT_TRUE(
      WriteFileAtomic(list, R"({"mine": {"input": 1, "output": 2}, "local": {"input": 0, "output": 0}})")
          .ok());
  struct Row {
    const char* model;
    const char* repair;
    bool listed;
    const char* unknown;  // the models that the error names; empty: there is none
  };
  const Row rows[] = {
      {"gpt-5", "", false, ""},
      {"openai/gpt-5", "", false, ""},
      {"gpt-5.99", "", false, "gpt-5.99"},
      {"mine", "", false, "mine"},
      {"mine", "", true, ""},
      {"mine-2", "", true, ""},
      {"local", "", true, ""},  // 0 is a price
      {"gpt-5", "mine", false, "mine"},
      {"mine", "gpt-5", false, "mine"},
      {"mine", "local", false, "mine and local"},
      {"mine", "local", true, ""},
      {"gpt-5", "other", true, "other"},
  };
  Budget money;
  money.usd = 0.01;
  Budget others;
  others.tokens = others.calls = others.evaluations = 1;
  for (const Row& row : rows) {
    SCOPED_TRACE(fmt::format("{}, {}", row.model, row.repair));
    ModelFlags flags;
    flags.model = row.model;
    flags.model_repair = row.repair;
    if (row.listed) flags.prices = list.string();
    for (const char* proposer : {"llm", "expert+llm"}) {
      const RunOptions run = RunWith(proposer, flags);
      const std::string why = WhyRefused(run, money);
      EXPECT_EQ(why.empty(), *row.unknown == '\0') << why;
      if (!why.empty()) {
        EXPECT_EQ(why,
                  fmt::format("no price is known for {}, so --max-usd cannot hold: give --prices FILE, or "
                              "use --max-tokens or --max-calls instead (and --max-usd 0)",
                              row.unknown));
      }
      EXPECT_EQ(WhyRefused(run, others), "");
      EXPECT_EQ(WhyRefused(run, Budget()), "");
    }
  }
}

TEST(ModelFlags, ALimitThatHoneCannotKeepIsRefused) {
  const RunOptions program = RunWith("expert+exec:my_program", ModelFlags());
  const RunOptions agent = RunWith("agent:my_agent", ModelFlags());
  Budget money, tokens, calls;
  money.usd = 1;
  tokens.tokens = 1;
  calls.calls = 1;
  EXPECT_THAT(WhyRefused(program, money), HasSubstr("no price is known for exec:my_program"));
  EXPECT_THAT(WhyRefused(program, money), HasSubstr("use --max-tokens or --max-calls"));
  EXPECT_TRUE(CheckSpendLimits(program).ok()) << "without the limit";
  EXPECT_TRUE(CheckSpendLimits(agent).ok());
  EXPECT_THAT(WhyRefused(agent, money), HasSubstr("so --max-usd cannot hold"));
  EXPECT_THAT(WhyRefused(agent, tokens), HasSubstr("so --max-tokens cannot hold"));
  EXPECT_THAT(WhyRefused(agent, calls), HasSubstr("so --max-calls cannot hold"));
  for (const char* free : {"expert", "replay:folder", "expert+replay:folder", "import"}) {
    RunOptions options = RunWith(free, ModelFlags());
    options.budget = money;
    EXPECT_TRUE(CheckSpendLimits(options).ok()) << free;
  }
}

}  // namespace
}  // namespace hone

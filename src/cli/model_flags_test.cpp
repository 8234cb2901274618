#include "cli/model_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace hone

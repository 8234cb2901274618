#include "model/api_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kKey = "sk-proj-abcdefghijklmnop";

class FindKey : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "DEEPSEEK_API_KEY", "HONE_API_KEY", "MY_KEY"})
      unsetenv(name);
  }
  void TearDown() override { SetUp(); }

  // Returns the key's source, "none" or the error.
  static std::string Source(const char* url, const char* variable = "", const fs::path& file = {}) {
    const Result<ApiKey> key = FindApiKey(*ParseUrl(url), false, variable, file);
    if (!key.ok()) return key.error().message;
    return key->value.empty() ? "none" : key->source;
  }
};

TEST_F(FindKey, GoesByTheServersVendor) {
  setenv("OPENAI_API_KEY", kKey, 1);
  setenv("DEEPSEEK_API_KEY", kKey, 1);
  EXPECT_EQ(Source("https://api.openai.com/v1"), "OPENAI_API_KEY");
  EXPECT_EQ(Source("https://api.deepseek.com"), "DEEPSEEK_API_KEY");
  EXPECT_THAT(Source("https://api.anthropic.com"),
              HasSubstr("set the environment variable ANTHROPIC_API_KEY"));
  EXPECT_THAT(Source("http://api.openai.com"), HasSubstr("https://"));
  EXPECT_EQ(Source("https://notopenai.com"), "OPENAI_API_KEY");
}

TEST_F(FindKey, LetsALocalServerDoWithoutOne) {
  EXPECT_EQ(Source("http://localhost:8000"), "none");
  EXPECT_EQ(Source("https://gateway.example"), "none");
  setenv("OPENAI_API_KEY", kKey, 1);
  EXPECT_EQ(Source("http://localhost:8000"), "OPENAI_API_KEY");
  setenv("HONE_API_KEY", kKey, 1);
  EXPECT_EQ(Source("http://localhost:8000"), "HONE_API_KEY");
}

TEST_F(FindKey, SendsNoKeyInTheClearUnlessItWasNamed) {
  setenv("OPENAI_API_KEY", kKey, 1);
  setenv("MY_KEY", kKey, 1);
  EXPECT_EQ(Source("http://10.0.0.7:8000"), "none");
  EXPECT_EQ(Source("http://10.0.0.7:8000", "MY_KEY"), "MY_KEY");
}

TEST_F(FindKey, TakesTheVariableThatWasNamedOrNothing) {
  setenv("OPENAI_API_KEY", kKey, 1);
  EXPECT_THAT(Source("https://api.openai.com", "MY_KEY"), HasSubstr("MY_KEY holds no key"));
  setenv("MY_KEY", "sk-with a blank", 1);
  EXPECT_THAT(Source("https://api.openai.com", "MY_KEY"), Not(HasSubstr("sk-with")));
  EXPECT_THAT(Source("https://api.openai.com", "MY_KEY"), HasSubstr("nothing else"));
}

TEST_F(FindKey, ReadsAFileOnlyWhenItIsPrivate) {
  Result<TempFolder> folder = TempFolder::Make("hone-key-test");
  const fs::path file = folder->path() / "key";
  EXPECT_THAT(Source("https://x.example", "", file), HasSubstr("cannot read the key file"));
  ASSERT_TRUE(WriteFileAtomic(file, std::string(kKey) + "\n", 0600).ok());
  EXPECT_THAT(Source("https://x.example", "", file), HasSubstr("--api-key-file"));
  for (const mode_t mode : {0640, 0604, 0660}) {
    chmod(file.c_str(), mode);
    EXPECT_THAT(Source("https://x.example", "", file), HasSubstr("run: chmod 600 " + file.string()));
  }
  ASSERT_TRUE(WriteFileAtomic(file, " \n", 0600).ok());
  EXPECT_THAT(Source("https://x.example", "", file), HasSubstr("is empty"));
}

TEST(WithoutKey, TakesOutTheKeyAndItsPieces) {
  EXPECT_EQ(WithoutKey(std::string("bad key ") + kKey + "!", kKey), "bad key [key]!");
  EXPECT_EQ(WithoutKey("starts with sk-proj-abcd***", kKey), "starts with [key]***");
  EXPECT_EQ(WithoutKey("ends in ijklmnop", kKey), "ends in [key]");
  EXPECT_EQ(WithoutKey("sk-proj is no secret", kKey), "sk-proj is no secret");
  EXPECT_EQ(WithoutKey("xshortx", "short"), "x[key]x");
  EXPECT_EQ(WithoutKey("nothing to hide", ""), "nothing to hide");
}

TEST(ReplyWithoutKey, LosesAWholeKeyAndNoOrdinaryWord) {
  EXPECT_EQ(ReplyWithoutKey(std::string("x = '") + kKey + "'", kKey), "x = '[key]'");
  EXPECT_EQ(ReplyWithoutKey("class sk-proj-abcdef", kKey), "class sk-proj-abcdef");
  EXPECT_EQ(ReplyWithoutKey("mode = 'none'", "none"), "mode = 'none'");
}

}  // namespace
}  // namespace hone

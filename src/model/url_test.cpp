#include "model/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(EndpointUrl, TakesABaseInEveryCommonSpelling) {
  struct Row {
    const char* base;
    const char* address;
  };
  const Row rows[] = {
      {"https://api.openai.com", "https://api.openai.com/v1/chat/completions"},
      {"https://api.openai.com/", "https://api.openai.com/v1/chat/completions"},
      {"https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions"},
      {"https://api.openai.com/v1///", "https://api.openai.com/v1/chat/completions"},
      {"https://API.OpenAI.com:443/v1/chat/completions", "https://api.openai.com/v1/chat/completions"},
      {"localhost:11434", "http://localhost:11434/v1/chat/completions"},
      {"llm.example", "https://llm.example/v1/chat/completions"},
      {"http://[::1]:8000/v1", "http://[::1]:8000/v1/chat/completions"},
      {"https://openrouter.ai/api/v1/", "https://openrouter.ai/api/v1/chat/completions"},
      {"https://g.example/v1beta/openai", "https://g.example/v1beta/openai/chat/completions"},
      {"https://a.example/x?api-version=1", "https://a.example/x/v1/chat/completions?api-version=1"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.base);
    const Result<Url> url = EndpointUrl(row.base, "/chat/completions");
    ASSERT_TRUE(url.ok()) << url.error().message;
    EXPECT_EQ(url->Display(), row.address);
  }
}

TEST(EndpointUrl, RefusesWhatItCannotUseAndRepeatsNoPassword) {
  for (const char* base :
       {"ftp://x.example", "https://", "http://x:0", "http://x:99999", "http://x:8o", "http://[::1",
        "https://me:secret@x.example/v1", "http://a b", "http://x\r\nHost: y"}) {
    SCOPED_TRACE(base);
    const Result<Url> url = EndpointUrl(base, "/messages");
    ASSERT_FALSE(url.ok());
    EXPECT_EQ(url.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(url.error().message, Not(HasSubstr("secret")));
  }
}

class Proxy : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"})
      unsetenv(name);
  }
  void TearDown() override { SetUp(); }
  static std::string For(const char* target) {
    const Result<std::optional<Url>> proxy = ProxyFor(*ParseUrl(target));
    if (!proxy.ok()) return "error";
    return *proxy ? (*proxy)->Authority() : "direct";
  }
};

TEST_F(Proxy, IsChosenByTheTargetsScheme) {
  EXPECT_EQ(For("https://llm.example"), "direct");
  setenv("https_proxy", "http://user:p%40ss@proxy.example:3128", 1);
  setenv("http_proxy", "plain.example:8080", 1);
  EXPECT_EQ(For("https://llm.example"), "proxy.example:3128");
  EXPECT_EQ(For("http://llm.example"), "plain.example:8080");
  EXPECT_EQ((*ProxyFor(*ParseUrl("https://llm.example")))->userinfo, "user:p@ss");
  setenv("https_proxy", "socks5://proxy.example:1080", 1);
  EXPECT_EQ(For("https://llm.example"), "error");
}

TEST_F(Proxy, IsPassedByForThisMachineAndWhatNoProxyNames) {
  setenv("all_proxy", "http://proxy.example:3128", 1);
  setenv("no_proxy", " .corp.example , other.example", 1);
  EXPECT_EQ(For("http://localhost:8000"), "direct");
  EXPECT_EQ(For("http://127.0.0.1:8000"), "direct");
  EXPECT_EQ(For("https://llm.corp.example"), "direct");
  EXPECT_EQ(For("https://other.example"), "direct");
  EXPECT_EQ(For("https://another.example"), "proxy.example:3128");
  setenv("no_proxy", "*", 1);
  EXPECT_EQ(For("https://another.example"), "direct");
}

}  // namespace
}  // namespace hone

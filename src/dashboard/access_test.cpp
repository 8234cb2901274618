#include "dashboard/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "dashboard/metrics.h"
#include "dashboard/run_actions.h"
#include "dashboard/sse.h"

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Header(const HttpReply& reply, const std::string& name) {
  for (const auto& [key, value] : reply.headers)
    if (key == name) return value;
  return "";
}

TEST(HttpMessage, AnAddressIsDecodedOrRefused) {
  HttpRequest request;
  ASSERT_TRUE(ParseTarget("/tasks/39%5FGRU%20x?q=a+b%26c&run=R1&run=R2", &request));
  EXPECT_EQ(request.path, "/tasks/39_GRU x");
  EXPECT_EQ(request.Query("q"), "a b&c");
  EXPECT_EQ(request.query.size(), 3u);
  for (const char* bad : {"", "x", "*", "http://elsewhere/", "/%", "/%4", "/%zz", "/%00", "/?a=%0"})
    EXPECT_FALSE(ParseTarget(bad, &request)) << bad;
}

TEST(HttpMessage, EncodingAndDecodingAreInverse) {
  std::string all;
  for (int byte = 1; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(*PercentDecode(PercentEncode(all), true), all);
}

TEST(HttpMessage, AFormWithTooManyFieldsIsRefused) {
  std::string form = "a=1";
  for (int i = 0; i < 100; ++i) form += "&a=1";
  EXPECT_FALSE(ParseForm(form).has_value());
}

TEST(Access, LoopbackNeedsNoTokenAndAnswersToItsOwnNamesOnly) {
  const AccessRules rules = RulesFor("127.0.0.1", {}, false);
  EXPECT_EQ(rules.token, "");
  HttpRequest request;
  for (const char* host : {"127.0.0.1", "127.0.0.1:8377", "localhost:9000", "LOCALHOST", "[::1]:8377"}) {
    request.host = host;
    EXPECT_FALSE(CheckAccess(rules, request).has_value()) << host;
  }
  for (const char* host : {"", "evil.example", "evil.example:8377", "127.0.0.1.evil.example",
                           "localhost.evil.example", "192.168.0.7:8377", "[::1", "[fe80::1]:1"}) {
    request.host = host;
    ASSERT_TRUE(CheckAccess(rules, request).has_value()) << host;
    EXPECT_EQ(CheckAccess(rules, request)->status, 421) << host;
  }
}

TEST(Access, AnotherNameCanBeAllowed) {
  const AccessRules rules = RulesFor("127.0.0.1", {"Hone.Example"}, false);
  HttpRequest request;
  request.host = "hone.example:80";
  EXPECT_FALSE(CheckAccess(rules, request).has_value());
}

TEST(Access, BoundElsewhereATokenIsAskedFor) {
  const AccessRules rules = RulesFor("0.0.0.0", {}, false);
  ASSERT_EQ(rules.token.size(), 32u);
  EXPECT_NE(rules.token, RulesFor("0.0.0.0", {}, false).token);
  HttpRequest request;
  request.host = "10.1.2.3:8377";
  EXPECT_EQ(CheckAccess(rules, request)->status, 401);
  request.query = {{"token", "wrong"}};
  EXPECT_EQ(CheckAccess(rules, request)->status, 401);
  request.path = "/runs/R1";
  request.query = {{"q", "a b"}, {"token", rules.token}};
  const HttpReply welcome = *CheckAccess(rules, request);
  EXPECT_EQ(welcome.status, 303);
  EXPECT_EQ(Header(welcome, "Location"), "/runs/R1?q=a%20b");
  EXPECT_THAT(Header(welcome, "Set-Cookie"), HasSubstr("HttpOnly; SameSite=Strict"));
  request.query.clear();
  request.cookie = "other=1; hone_token=" + rules.token;
  EXPECT_FALSE(CheckAccess(rules, request).has_value());
  request.cookie = "hone_token=" + rules.token.substr(1);
  EXPECT_TRUE(CheckAccess(rules, request).has_value());
  request.cookie.clear();
  request.authorization = "Bearer " + rules.token;
  EXPECT_FALSE(CheckAccess(rules, request).has_value());
}

TEST(Access, ProgramsGiveTheTokenInTheAddressAndGetTheirAnswerAtOnce) {
  const AccessRules rules = RulesFor("0.0.0.0", {}, false);
  HttpRequest request;
  request.host = "10.1.2.3";
  request.path = "/metrics";
  request.query = {{"token", rules.token}};
  EXPECT_FALSE(CheckAccess(rules, request).has_value());
}

TEST(Access, SecretsAreComparedWhole) {
  EXPECT_TRUE(SameSecret("abc", "abc"));
  for (const char* other : {"", "ab", "abd", "abcd", "Abc"}) EXPECT_FALSE(SameSecret(other, "abc")) << other;
}

TEST(Access, ActionsNeedTheFlagTheOriginAndTheForm) {
  const AccessRules shows = RulesFor("127.0.0.1", {}, false);
  AccessRules acts = RulesFor("127.0.0.1", {}, true);
  HttpRequest request;
  request.method = "POST";
  request.host = "127.0.0.1:8377";
  EXPECT_EQ(CheckAction(shows, request, {{"csrf", shows.csrf}})->status, 403);
  EXPECT_FALSE(CheckAction(acts, request, {{"csrf", acts.csrf}}).has_value());
  EXPECT_EQ(CheckAction(acts, request, {})->status, 403);
  EXPECT_EQ(CheckAction(acts, request, {{"csrf", "wrong"}})->status, 403);
  request.origin = "http://127.0.0.1:8377";
  EXPECT_FALSE(CheckAction(acts, request, {{"csrf", acts.csrf}}).has_value());
  for (const char* origin : {"http://evil.example", "null", "http://127.0.0.1:9999"}) {
    request.origin = origin;
    EXPECT_TRUE(CheckAction(acts, request, {{"csrf", acts.csrf}}).has_value()) << origin;
  }
}

TEST(Access, NotesMayBeChangedOnLoopbackOrWithActionsAndAlwaysNeedTheForm) {
  const AccessRules here = RulesFor("127.0.0.1", {}, false);
  const AccessRules elsewhere = RulesFor("0.0.0.0", {}, false);
  HttpRequest request;
  request.method = "POST";
  request.host = "127.0.0.1:8377";
  EXPECT_FALSE(CheckNoteChange(here, request, {{"csrf", here.csrf}}).has_value());
  EXPECT_EQ(CheckNoteChange(here, request, {{"csrf", "wrong"}})->status, 403);
  EXPECT_EQ(CheckNoteChange(here, request, {})->status, 403);
  EXPECT_EQ(CheckNoteChange(elsewhere, request, {{"csrf", elsewhere.csrf}})->status, 403);
  EXPECT_TRUE(RulesFor("0.0.0.0", {}, true).allow_notes);
  request.origin = "http://evil.example";
  EXPECT_EQ(CheckNoteChange(here, request, {{"csrf", here.csrf}})->status, 403);
}

TEST(RunActions, AFormBecomesAnArgumentListOrARefusal) {
  const TempFolder folder = *TempFolder::Make("hone-form-");
  const std::string task = (folder.path() / "a b;$(x).py").string();
  ASSERT_TRUE(WriteFileAtomic(task, "x").ok());
  EXPECT_THAT(*StartArguments({{"task", task}, {"target", "cpu"}, {"max_minutes", "3"}}),
              testing::ElementsAre("optimize", task, "--quiet", "--target", "cpu", "--max-minutes", "3"));
  const std::vector<std::vector<std::pair<std::string, std::string>>> wrong = {
      {},
      {{"task", "relative.py"}},
      {{"task", "/etc/passwd"}},
      {{"task", "--help"}},
      {{"task", task}, {"proposer", "exec:rm -rf /"}},
      {{"task", task}, {"proposer", "replay:/nowhere"}},
      {{"task", task}, {"proposer", "llm"}},
      {{"task", task}, {"proposer", "llm"}, {"model", "--api-base=http://evil"}},
      {{"task", task}, {"target", "--out=/"}},
      {{"task", task}, {"max_minutes", "1e9"}},
  };
  for (const auto& form : wrong)
    EXPECT_FALSE(StartArguments(form).ok()) << (form.empty() ? "" : form.back().second);
}

TEST(Sse, AnEventCannotBeForgedFromItsData) {
  EXPECT_EQ(SseEvent("console", "a\nb\r\nc\rd", 7),
            "id: 7\nevent: console\ndata: a\ndata: b\ndata: c\ndata: d\n\n");
  const std::string forged = SseEvent("console", "x\n\nevent: end\ndata: {}\n\n");
  EXPECT_THAT(forged, Not(HasSubstr("\nevent: end")));
  EXPECT_EQ(SseBeat()[0], ':');
}

TEST(Metrics, LabelsAreEscapedAndEveryFamilyHasItsType) {
  StoreTotals totals;
  totals.runs["done"] = 3;
  totals.candidates[{"rejected", "a\"b\\c\nd"}] = 2;
  const std::string text = MetricsText(totals, 10, {}, 4);
  EXPECT_THAT(text, HasSubstr("hone_runs{status=\"done\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("reason=\"a\\\"b\\\\c\\nd\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE hone_live_viewers gauge\nhone_live_viewers 4\n"));
}

}  // namespace
}  // namespace hone

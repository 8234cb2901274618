// Tests external input: bodies, names of tasks, options, tokens. Also tests the stages of a verdict.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/ids.h"
#include "service/evaluate_request.h"
#include "service/evaluation_options.h"
#include "service/reward_result.h"
#include "service/tokens.h"

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string WhyNot(const std::string& body) {
  const Result<EvaluateRequest> request = ParseEvaluateRequest(body);
  return request.ok() ? "" : request.error().message;
}

TEST(EvaluateRequest, MistakesAreOneSentence) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "not valid JSON"},
      {"[]", "must be a JSON object"},
      {"{\"task\": \"a\", \"candidat\": \"x\"}", "did you mean candidate?"},
      {"{\"task\": 1, \"candidate\": \"x\"}", "task must be a string"},
      {"{\"candidate\": \"x\"}", "either task"},
      {"{\"task\": \"a\", \"task_source\": \"b\", \"candidate\": \"x\"}", "either task"},
      {"{\"task\": \"a\"}", "either candidate"},
      {"{\"task\": \"a\", \"candidate\": \"x\", \"reply\": \"y\"}", "either candidate"},
      {"{\"task\": \"a\", \"candidate\": \"x\\u0000\"}", "NUL"},
      {"{\"task\": \"a\", \"candidate\": \"\\ud800\"}", "not valid JSON"},
      {"{\"task\": \"a\", \"candidate\": \"\xff\"}", "not valid JSON"},
      {"{\"task\": \"a\", \"candidate\": \"x\", \"again\": 1}", "again must be"},
      {"{\"options\": " + std::string(1'000'000, '['), "nested too deeply"},
  };
  for (const auto& [body, why] : cases) EXPECT_THAT(WhyNot(body), HasSubstr(why)) << body.substr(0, 80);
}

TEST(EvaluateRequest, TheCandidateIsTakenOutOfAReply) {
  const std::string reply =
      "Here it is:\n```python\nimport torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n"
      "        return x\n```\nDone.";
  const Result<EvaluateRequest> request =
      ParseEvaluateRequest(DumpJson(Json{{"task", "a"}, {"reply", reply}}));
  ASSERT_TRUE(request.ok());
  EXPECT_THAT(request->candidate, testing::StartsWith("import torch\nclass ModelNew"));
  EXPECT_EQ(ParseEvaluateRequest(R"({"task": "a", "reply": "I cannot."})")->candidate, "");
  EXPECT_EQ(ParseEvaluateRequest(R"({"task": "a", "candidate": " \n"})")->candidate, "");
}

TEST(FindTask, NoNameLeadsOutOfItsFolder) {
  const TempFolder folder = *TempFolder::Make("hone-tasks-");
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "secret.py", "s").ok());
  const fs::path tasks = folder.path() / "tasks";
  ASSERT_TRUE(MakeFolders(tasks / "level1").ok());
  ASSERT_TRUE(WriteFileAtomic(tasks / "level1" / "a.py", "x").ok());
  fs::create_symlink(folder.path() / "secret.py", tasks / "link.py");
  EXPECT_EQ(FindTask({tasks}, "level1/a")->name, "a");
  for (const char* bad :
       {"../secret", "link", "/etc/passwd", "level1/../../secret", ".hidden", "a b", "", "b"})
    EXPECT_FALSE(FindTask({tasks}, bad).ok()) << bad;
}

TEST(ClientOptions, AreCheckedAndReachTheJudge) {
  SessionOptions server;
  server.python.program = "/usr/bin/python3";
  const auto why = [&](const char* json) {
    const Result<SessionOptions> options = WithClientOptions(server, *ParseJson(json));
    return options.ok() ? "" : options.error().message;
  };
  EXPECT_THAT(why(R"({"trials": 4})"), HasSubstr("options.trials must be a number from 5"));
  EXPECT_THAT(why(R"({"trials": 5.5})"), HasSubstr("whole number"));
  EXPECT_THAT(why(R"({"check_only": 1})"), HasSubstr("true or false"));
  EXPECT_THAT(why(R"({"error_factor": 0})"), HasSubstr("above 0"));
  EXPECT_THAT(why(R"({"precision": "fp8"})"), HasSubstr("one of fp32, tf32, bf16"));
  EXPECT_THAT(why(R"({"baselines": ["--json"]})"), HasSubstr("one of eager"));
  EXPECT_THAT(why(R"({"sandbox": "none"})"), HasSubstr("options.sandbox is not known"));
  EXPECT_THAT(why(R"([1])"), HasSubstr("must be an object"));
  const Result<SessionOptions> options = WithClientOptions(
      server,
      *ParseJson(R"({"trials": 7, "check_only": true, "baselines": ["eager", "compile"], "atol": 0.01})"));
  ASSERT_TRUE(options.ok());
  const std::vector<std::string> words = BenchArguments(*options);
  const std::string line = testing::PrintToString(words);
  EXPECT_THAT(line, HasSubstr(R"("--trials", "7")"));
  EXPECT_THAT(line, HasSubstr(R"("--atol", "0.01")"));
  EXPECT_THAT(line, HasSubstr(R"("--baselines", "eager,compile")"));
  EXPECT_EQ(words.back(), "--check-only");
}

TEST(Tokens, AreReadFromAFileThatOthersCannotRead) {
  const TempFolder folder = *TempFolder::Make("hone-tokens-");
  const fs::path file = folder.path() / "tokens";
  const std::string secret(32, 'x');
  ASSERT_TRUE(
      WriteFileAtomic(file, "# clients\n\nalice " + secret + "\n" + std::string(20, 'y') + "\n", 0600).ok());
  const Result<std::vector<Token>> tokens = ReadTokenFile(file);
  ASSERT_TRUE(tokens.ok()) << tokens.error().message;
  ASSERT_EQ(tokens->size(), 2u);
  EXPECT_EQ(FindToken(*tokens, "Bearer " + secret)->name, "alice");
  EXPECT_EQ(FindToken(*tokens, "bearer  " + std::string(20, 'y'))->name, "token2");
  for (const std::string& bad : {std::string("Bearer x"), secret, std::string("Basic " + secret),
                                 std::string(), "Bearer " + secret + "x", "Bearer " + secret.substr(1)})
    EXPECT_EQ(FindToken(*tokens, bad), nullptr) << bad;
  ASSERT_EQ(chmod(file.c_str(), 0644), 0);
  EXPECT_THAT(ReadTokenFile(file).error().message, HasSubstr("chmod 600"));
}

TEST(Tokens, AServerThatOthersReachNeedsOneOfYours) {
  EXPECT_THAT(ChooseTokens("", "", true).error().message, HasSubstr("HONE_JUDGE_TOKEN"));
  EXPECT_THAT(ChooseTokens("", "short", false).error().message, HasSubstr("16 to 512"));
  const Result<TokenSet> made = ChooseTokens("", "", false);
  EXPECT_TRUE(made->generated);
  EXPECT_EQ(made->tokens[0].secret.size(), 48u);
  EXPECT_FALSE(ChooseTokens("", std::string(16, 'a'), true)->generated);
}

TEST(RequestRate, RefillsSteadily) {
  RequestRate rate(60);
  for (int i = 0; i < 60; ++i) EXPECT_FALSE(rate.Refuse("a", 100).has_value()) << i;
  EXPECT_NEAR(rate.Refuse("a", 100).value(), 1.0, 1e-9);
  EXPECT_FALSE(rate.Refuse("b", 100).has_value()) << "another token";
  EXPECT_FALSE(rate.Refuse("a", 101).has_value());
  EXPECT_TRUE(rate.Refuse("a", 101).has_value());
}

Json Record(const char* verdict, const char* reason, const char* gates, int trials) {
  Json record = {{"verdict", verdict}, {"reason", reason}, {"gates", *ParseJson(gates)}};
  record["error"] = {{"candidate", 3e-6}, {"limit", 1e-6}};
  record["provenance"]["seeds"] = Json::array();
  for (int i = 0; i < 9; ++i) record["provenance"]["seeds"].push_back({{"inputs", i}});
  record["measurement"]["trials"] = Json::array();
  for (int i = 0; i < trials; ++i) record["measurement"]["trials"].push_back(Json::object());
  return record;
}

TEST(RewardResult, NamesTheStageThatWasReached) {
  const Json built =
      RewardResult(Record("rejected", "build-failed", R"({"lint": "pass", "build": "fail"})", 0));
  EXPECT_EQ(GetString(built, "stage"), "code");
  EXPECT_EQ(built["builds"], Json(false));
  EXPECT_EQ(built["runs"], Json(false));
  EXPECT_EQ(built["trials_right"], Json(0.0));
  EXPECT_TRUE(built["error_over_limit"].is_null());

  const Json wrong =
      RewardResult(Record("rejected", "wrong-output",
                          R"({"build": "pass", "shape": "pass", "correct": "fail", "runs": "skipped"})", 4));
  EXPECT_EQ(GetString(wrong, "stage"), "runs");
  EXPECT_EQ(wrong["correct"], Json(false));
  EXPECT_NEAR(GetNumber(wrong, "trials_right"), 0.3, 1e-12);
  EXPECT_NEAR(GetNumber(wrong, "error_over_limit"), 3, 1e-9);

  const Json crashed =
      RewardResult(Record("rejected", "crashed", R"({"build": "pass", "shape": "pass", "runs": "fail"})", 2));
  EXPECT_EQ(GetString(crashed, "stage"), "builds");
  EXPECT_NEAR(GetNumber(crashed, "trials_right"), 0.2, 1e-12);

  Json fast = Record("accepted", "faster",
                     R"({"build": "pass", "shape": "pass", "correct": "pass", "runs": "pass"})", 10);
  fast["speedup"] = {{"vs_eager", 3.0}, {"vs_best", 2.0}, {"ci95", {1.9, 2.1}}, {"best_baseline", "eager"}};
  const Json faster = RewardResult(fast);
  EXPECT_EQ(GetString(faster, "stage"), "faster");
  EXPECT_EQ(GetNumber(faster, "vs_best"), 2.0);
  EXPECT_EQ(faster["trials_right"], Json(1.0));
  EXPECT_EQ(faster["cheat"], Json(false));

  const Json slow = RewardResult(
      Record("rejected", "slower", R"({"build": "pass", "correct": "pass", "runs": "pass"})", 10));
  EXPECT_EQ(slow["correct"], Json(true));
  EXPECT_EQ(RewardResult(Record("rejected", "too-fast", "{}", 0))["cheat"], Json(true));
  EXPECT_TRUE(RewardResult(Record("cannot_judge", "blind-task", "{}", 0))["correct"].is_null());
  EXPECT_THAT(RewardWithoutCode().keys(), testing::ContainerEq(built.keys()))
      << "a client reads the same members";
}

TEST(VerdictForClient, KeepsTheSeedsOfAWarmSessionSecret) {
  const Json verdict = VerdictForClient(Record("rejected", "slower", "{}", 3));
  EXPECT_FALSE(verdict.contains("measurement"));
  EXPECT_FALSE(verdict["provenance"].contains("seeds"));
  EXPECT_EQ(GetString(verdict, "reason"), "slower");
}

}  // namespace
}  // namespace hone

// Tests with real sockets and tests/fakes/fake_llm_server.py, which misbehaves as real servers do. Every
// scenario has its own tag, so that the server can report the number of its calls.
#include "model/http_model.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <thread>

#include "base/ids.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/text.h"
#include "process/child.h"

namespace hone {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kServerKey = "sk-test-0123456789abcdefghij";

class FakeServer {
 public:
  explicit FakeServer(std::vector<std::string> arguments = {}) {
    EXPECT_TRUE(log_.ok());
    ChildSpec spec;
    spec.argv = {"python3", "-u", HONE_SOURCE_DIR "/tests/fakes/fake_llm_server.py", "--log",
                 log_file().string()};
    spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
    spec.env = CurrentEnvironment();
    Result<std::unique_ptr<Child>> child = Child::Spawn(spec);
    EXPECT_TRUE(child.ok());
    child_ = *std::move(child);
    const Deadline deadline = Deadline::After(20);
    while (port_ == 0 && child_->running() && !deadline.passed()) {
      const std::string out = child_->out();
      if (StartsWith(out, "port ") && EndsWith(out, "\n")) port_ = std::stoi(out.substr(5));
      SleepUnlessInterrupted(0.01);
    }
    EXPECT_NE(port_, 0) << child_->err();
  }

  int port() const { return port_; }
  std::string Base(const std::string& scheme = "http", const std::string& host = "127.0.0.1") const {
    return scheme + "://" + host + ":" + std::to_string(port_);
  }

  // The requests to this server with this tag.
  std::vector<Json> Requests(const std::string& tag) const {
    std::vector<Json> found;
    Result<std::string> text = ReadFile(log_file());
    if (!text.ok()) return found;
    for (const std::string& line : Lines(*text)) {
      Result<Json> entry = ParseJson(line);
      if (entry.ok() && GetString(*entry, "tag") == tag) found.push_back(*std::move(entry));
    }
    return found;
  }

 private:
  fs::path log_file() const { return log_->path() / "log.jsonl"; }
  Result<TempFolder> log_ = TempFolder::Make("hone-fake-llm");
  std::unique_ptr<Child> child_;
  int port_ = 0;
};

class HttpModelTest : public testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() { server_ = new FakeServer; }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }
  void SetUp() override {
    for (const char* name : {"HONE_API_KEY", "SSL_CERT_FILE", "SSL_CERT_DIR", "http_proxy", "https_proxy",
                             "no_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy", "NO_PROXY"})
      unsetenv(name);
    setenv("OPENAI_API_KEY", kServerKey, 1);
    setenv("ANTHROPIC_API_KEY", kServerKey, 1);
  }

  // Long time limits, so that a busy machine is no reason to give up. If a wait is the test, it is shorter.
  HttpModelOptions Options(const std::string& scenario) {
    HttpModelOptions options;
    options.model = (anthropic() ? "claude-fake/" : "fake/") + scenario + "@" + tag_;
    options.api_base = server_->Base();
    options.retry.backoff_seconds = 0.01;
    options.limits.idle_seconds = 60;
    options.limits.connect_seconds = 60;
    return options;
  }
  bool anthropic() const { return std::string(GetParam()) == "anthropic"; }

  ModelReply Ask(const HttpModelOptions& options) {
    Result<std::unique_ptr<Model>> model = MakeHttpModel(options);
    EXPECT_TRUE(model.ok()) << model.error().message;
    if (!model.ok()) return {};
    return AskModel(**model);
  }
  ModelReply AskModel(Model& model) {
    notes_.clear();
    ModelRequest request{"seed", "You write kernels.", "Please write one.", "seed/0", Deadline::After(30)};
    ModelProgress progress;
    progress.tokens = [this](int64_t tokens) { tokens_.push_back(tokens); };
    progress.note = [this](const std::string& note) { notes_.push_back(note); };
    ModelReply reply = model.Ask(request, progress);
    EXPECT_EQ(reply.notes, notes_);
    for (const std::string& text : {reply.text, reply.message, reply.thinking, Join(reply.notes, "\n")}) {
      EXPECT_THAT(text, Not(HasSubstr(kServerKey)));
      EXPECT_THAT(text, Not(HasSubstr("0123456789")));
    }
    return reply;
  }
  ModelReply Ask(const std::string& scenario) { return Ask(Options(scenario)); }
  std::vector<Json> Requests() const { return server_->Requests(tag_); }

  static FakeServer* server_;
  std::string tag_ = RandomHex(4);
  std::vector<int64_t> tokens_;
  std::vector<std::string> notes_;
};

FakeServer* HttpModelTest::server_ = nullptr;

INSTANTIATE_TEST_SUITE_P(Apis, HttpModelTest, testing::Values("openai", "anthropic"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(HttpModelTest, StreamsAReplyAndCountsItsTokens) {
  const ModelReply reply = Ask("fine");
  ASSERT_TRUE(reply.ok()) << reply.message;
  EXPECT_EQ(reply.text, "Hello from fake");
  EXPECT_EQ(reply.finish_reason, "stop");
  EXPECT_EQ(reply.attempts, 1);
  EXPECT_EQ(reply.usage.prompt_tokens, 11);
  EXPECT_FALSE(reply.usage.estimated);
  EXPECT_FALSE(reply.usage.price_known);
  EXPECT_GT(tokens_.size(), 1u);
  ASSERT_EQ(Requests().size(), 1u);
  const Json request = Requests()[0];
  EXPECT_EQ(GetString(request, "api"), GetParam());
  EXPECT_EQ(GetString(request, "call_type"), "seed");
  EXPECT_EQ(GetString(request, "call_key"), "seed/0");
  EXPECT_TRUE(GetBool(request, "has_key"));
  EXPECT_TRUE(GetBool(request, "stream"));
}

TEST_P(HttpModelTest, GetsOverEveryPassingTrouble) {
  struct Row {
    const char* scenario;
    int calls;
    const char* note;
    const char* text = "Hello from fake";
  };
  const Row rows[] = {
      {"500:2", 3, "HTTP 500"},
      {"529:1", 2, "HTTP 529"},
      {"stall:1", 2, "timeout"},
      {"reset:1", 2, "connection lost"},
      {"cut:1", 2, "connection lost"},
      {"wrong-json:1", 2, "garbled reply"},
      {"empty:1", 2, "empty reply"},
      {"error-in-stream:1", 2, "error in the stream"},
      {"refuse-stream", 2, "asked in another way"},
      {"no-stream", 1, nullptr},
      {"done-then-hang", 1, nullptr, "the answer"},
      {"utf8", 1, nullptr, "caf\xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd fine"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.scenario);
    tag_ = RandomHex(4);
    HttpModelOptions options = Options(row.scenario);
    if (StartsWith(row.scenario, "stall")) options.limits.idle_seconds = 0.5;
    const ModelReply reply = Ask(options);
    EXPECT_TRUE(reply.ok()) << reply.message;
    EXPECT_EQ(reply.text, row.text);
    EXPECT_EQ(reply.attempts, row.calls);
    EXPECT_EQ(static_cast<int>(Requests().size()), row.calls);
    if (row.note != nullptr)
      EXPECT_THAT(reply.notes, testing::Contains(HasSubstr(row.note)));
    else
      EXPECT_TRUE(reply.notes.empty());
  }
}

TEST_P(HttpModelTest, GivesUpWithAReasonThatSaysWhatToDo) {
  using F = ModelFailure;
  struct Row {
    const char* scenario;
    ModelFailure failure;
    int calls;
    const char* message;
    const char* advice = "";
  };
  const Row rows[] = {
      {"wrong-key", F::kWrongKey, 1, "the key came from", "HTTP 401"},
      {"context", F::kContextTooLong, 1, "longer context", "use a model"},
      {"not-found", F::kRefused, 1, "asked for model", "does not exist"},
      {"redirect", F::kRefused, 1, "https://elsewhere.example", "--api-base"},
      {"429-quota", F::kRefused, 1, "current quota"},
      {"huge", F::kTooLarge, 1, "4.0 MiB", "--max-output-tokens"},
      {"huge-document", F::kTooLarge, 1, "4.0 MiB"},
      {"huge-document:6", F::kTooLarge, 1, "4.0 MiB"},
      {"wrong-json:0", F::kBadReply, 3, "--api-base"},
      {"html", F::kBadReply, 3, "--api-base"},
      {"empty:0", F::kBadReply, 3, "an empty reply"},
      {"no-choices", F::kBadReply, 3, "an empty reply"},
      {"500:99", F::kUnreachable, 6, "HTTP 500"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.scenario);
    tag_ = RandomHex(4);
    const ModelReply reply = Ask(row.scenario);
    EXPECT_EQ(FailureName(reply.failure), FailureName(row.failure)) << reply.message;
    EXPECT_THAT(reply.message, HasSubstr(row.message));
    EXPECT_THAT(reply.message, HasSubstr(row.advice));
    EXPECT_EQ(static_cast<int>(Requests().size()), row.calls);
  }
}

TEST_P(HttpModelTest, WaitsAsLongAsRetryAfterSays) {
  const ModelReply reply = Ask(anthropic() ? "429:1" : "429-date:1");
  ASSERT_TRUE(reply.ok()) << reply.message;
  const std::vector<Json> requests = Requests();
  ASSERT_EQ(requests.size(), 2u);
  const double waited = GetNumber(requests[1], "time") - GetNumber(requests[0], "time");
  // A date has whole seconds, so two seconds ahead means between one and two.
  EXPECT_GE(waited, 0.95);
  EXPECT_LT(waited, 5);
  EXPECT_THAT(reply.notes, testing::Contains(HasSubstr("HTTP 429, waiting")));
}

TEST_P(HttpModelTest, AsksToGoOnWhenAReplyIsCutOffAndJoinsTheParts) {
  const ModelReply reply = Ask("length");
  ASSERT_TRUE(reply.ok()) << reply.message;
  EXPECT_EQ(reply.text, "```python\nimport torch\nfirst = 1\nsecond = 2\nthird = 3\n```\n");
  EXPECT_EQ(reply.finish_reason, "stop");
  EXPECT_EQ(Requests().size(), 3u);
  EXPECT_EQ(reply.usage.prompt_tokens, 33) << "usage is that of all three";
}

TEST_P(HttpModelTest, AsksForAShorterReplyWhenGoingOnDoesNotHelp) {
  const ModelReply endless = Ask("length-always");
  ASSERT_TRUE(endless.ok()) << endless.message;
  EXPECT_EQ(endless.finish_reason, "length");
  EXPECT_EQ(endless.text, "part 4 of an endless reply\n");
  EXPECT_EQ(Requests().size(), 4u);
  tag_ = RandomHex(4);
  const ModelReply thinker = Ask("length-thinking");
  EXPECT_EQ(thinker.text, "brief");
  EXPECT_EQ(Requests().size(), 2u) << "there is nothing to continue";
}

TEST_P(HttpModelTest, KeepsThinkingApart) {
  for (const char* scenario : {"thinking", "think-tags"}) {
    const ModelReply reply = Ask(scenario);
    EXPECT_EQ(reply.text, "the answer");
    EXPECT_EQ(reply.thinking, "the thought");
  }
}

TEST_P(HttpModelTest, EstimatesUsageWhereNoneIsToldAndSaysSo) {
  const ModelReply reply = Ask("no-usage");
  EXPECT_TRUE(reply.usage.estimated);
  EXPECT_GT(reply.usage.prompt_tokens, 5);
  EXPECT_GE(reply.usage.completion_tokens, 3);
}

TEST_P(HttpModelTest, CountsWhatABrokenAttemptHasCost) {
  const ModelReply reply = Ask("reset:1");
  ASSERT_TRUE(reply.ok());
  EXPECT_TRUE(reply.usage.estimated);
  EXPECT_GT(reply.usage.prompt_tokens, 11) << "two prompts were read";
}

TEST_P(HttpModelTest, CountsThePromptOfACallThatWasSentAndNeverAnswered) {
  HttpModelOptions options = Options("silent");
  options.limits.idle_seconds = 0.1;
  options.retry.max_attempts = 1;
  const ModelReply silent = Ask(options);
  EXPECT_EQ(silent.failure, ModelFailure::kUnreachable);
  EXPECT_GT(silent.usage.prompt_tokens, 5);
  EXPECT_EQ(silent.usage.completion_tokens, 0);
  EXPECT_TRUE(silent.usage.estimated);
  options.api_base = "http://127.0.0.1:1";
  EXPECT_EQ(Ask(options).usage.total(), 0) << "what was never sent costs nothing";
  EXPECT_EQ(Ask("wrong-key").usage.total(), 0) << "and a refusal costs nothing";
}

TEST_P(HttpModelTest, RemembersWhatAServerDoesNotTake) {
  HttpModelOptions options = Options("refuse-max-tokens");
  options.max_output_tokens = 9000;
  const Result<std::unique_ptr<Model>> model = MakeHttpModel(options);
  ASSERT_TRUE(model.ok());
  ASSERT_TRUE(AskModel(**model).ok());
  const size_t first = Requests().size();
  EXPECT_GT(first, 1u);
  ASSERT_TRUE(AskModel(**model).ok());
  EXPECT_EQ(Requests().size(), first + 1);
  EXPECT_EQ(GetInt(GetMember(Requests().back(), "body"), "max_tokens"), 4096);
}

// What a call asks to spend, and what it reports as spent.
struct Purse {
  std::vector<MostUse> asked;
  int64_t reserved = 0;
  Usage spent;
  int allows = 100;

  ModelProgress AsProgress() {
    ModelProgress progress;
    progress.may_spend = [this](const MostUse& most) {
      if (static_cast<int>(asked.size()) == allows) return ModelFailure::kOutOfBudget;
      asked.push_back(most);
      reserved += most.tokens;
      return ModelFailure::kNone;
    };
    progress.spent = [this](const MostUse& most, const Usage& used) {
      reserved -= most.tokens;
      spent = spent + used;
      EXPECT_TRUE(most.tokens < 0 || used.total() <= most.tokens) << used.total();
      EXPECT_TRUE(most.usd < 0 || used.cost_usd <= most.usd) << used.cost_usd;
    };
    return progress;
  }
};

TEST_P(HttpModelTest, AsksBeforeEachRequestHowMuchItMaySpend) {
  const Result<TempFolder> folder = TempFolder::Make("hone-prices");
  const fs::path prices = folder->path() / "prices.json";
  ASSERT_TRUE(WriteFileAtomic(prices, R"({"fake": {"input": 1, "output": 100, "cache_write": 2},)"
                                      R"( "claude-fake": {"input": 1, "output": 100, "cache_write": 2}})")
                  .ok());
  // Refused once, or cut off twice: each request asks separately.
  for (const auto& [scenario, requests] : std::map<std::string, size_t>{{"500:1", 2}, {"length", 3}}) {
    SCOPED_TRACE(scenario);
    HttpModelOptions options = Options(scenario);
    options.max_output_tokens = 5000;
    ASSERT_TRUE(options.prices.Override(prices).ok());
    const Result<std::unique_ptr<Model>> model = MakeHttpModel(options);
    ASSERT_TRUE((*model)->asks_before_it_spends());
    const ModelRequest request{"seed", "You write kernels.", "Please write one.", "k", Deadline::After(30)};
    Purse purse;
    const ModelReply reply = (*model)->Ask(request, purse.AsProgress());
    ASSERT_TRUE(reply.ok()) << reply.message;
    ASSERT_EQ(purse.asked.size(), requests);
    for (const MostUse& most : purse.asked) {
      EXPECT_GT(most.tokens, 5000 + 1000);
      EXPECT_LT(most.tokens, 5000 + 3000);
      // The prompt at its highest price, the reply at its own price.
      EXPECT_DOUBLE_EQ(most.usd, (static_cast<double>(most.tokens - 5000) * 2 + 5000 * 100) / 1e6);
    }
    EXPECT_EQ(purse.reserved, 0) << "nothing stays reserved";
    EXPECT_EQ(purse.spent.total(), reply.usage.total());
    EXPECT_DOUBLE_EQ(purse.spent.cost_usd, reply.usage.cost_usd);
    EXPECT_GT(reply.usage.cost_usd, 0);

    Purse empty;
    empty.allows = 1;
    const ModelReply refused = (*MakeHttpModel(Options(scenario)))->Ask(request, empty.AsProgress());
    if (scenario == "length") {
      EXPECT_EQ(refused.failure, ModelFailure::kOutOfBudget);
      EXPECT_GT(refused.usage.total(), 0) << "the first part is paid";
      EXPECT_EQ(empty.spent.total(), refused.usage.total());
    }
  }
}

TEST_P(HttpModelTest, KnowsTheMostOnlyWhereTheReplyHasALimitAndAPrice) {
  const ModelRequest request{"seed", "You write kernels.", "Please write one.", "k", Deadline::After(30)};
  Purse purse;
  ASSERT_TRUE((*MakeHttpModel(Options("fine")))->Ask(request, purse.AsProgress()).ok());
  // Anthropic's API requires a limit in every request.
  EXPECT_EQ(purse.asked.at(0).tokens > 0, anthropic());
  EXPECT_LT(purse.asked.at(0).usd, 0) << "nobody knows the price of this model";
  HttpModelOptions options = Options("fine");
  options.extra = {{"max_tokens", 700}};
  ASSERT_TRUE((*MakeHttpModel(options))->Ask(request, purse.AsProgress()).ok());
  EXPECT_GT(purse.asked.at(1).tokens, 1700);
  EXPECT_LT(purse.asked.at(1).tokens, 3000) << "as the user set it";
}

TEST_P(HttpModelTest, LeavesOutStreamOptionsWhereTheyAreRefused) {
  const ModelReply reply = Ask("refuse-stream-options");
  EXPECT_EQ(reply.text, "Hello from fake");
  EXPECT_EQ(reply.attempts, anthropic() ? 1 : 2);
  EXPECT_EQ(reply.usage.estimated, !anthropic()) << "without them no usage is told";
}

TEST_P(HttpModelTest, SendsWhatTheUserAdds) {
  HttpModelOptions options = Options("fine");
  options.extra = {{"reasoning_effort", "high"}};
  options.temperature = 0.25;
  ASSERT_TRUE(Ask(options).ok());
  const Json body = GetMember(Requests()[0], "body");
  EXPECT_EQ(GetString(body, "reasoning_effort"), "high");
  EXPECT_EQ(GetNumber(body, "temperature"), 0.25);
}

constexpr const char* kAnalysis = R"({"worth_optimizing":true,"reason":"r","time_loop":"host"})";

// A server whose replies to prompts of this type are data.
class DataServer {
 public:
  DataServer() {
    EXPECT_TRUE(WriteFileAtomic(folder_->path() / "001_analysis.txt", kAnalysis).ok());
    server_ = std::make_unique<FakeServer>(std::vector<std::string>{"--replies", folder_->path().string()});
  }
  const FakeServer& operator*() const { return *server_; }

 private:
  Result<TempFolder> folder_ = TempFolder::Make("hone-fake-data");
  std::unique_ptr<FakeServer> server_;
};

TEST_P(HttpModelTest, AsksForDataByTheWaysAServerKnowsAndRemembersThem) {
  const DataServer server;
  constexpr const char* kSchema = R"({"type":"object","properties":{},"additionalProperties":false})";
  struct Row {
    const char* scenario;
    const char* openai;     // the way that worked, and the number of requests of the first call
    const char* anthropic;  // "schema", "tool" or "prose"
    int openai_calls;
    int anthropic_calls;
    bool streams = true;
  };
  const Row rows[] = {
      {"fine", "schema", "tool", 1, 1},
      {"no-stream", "schema", "tool", 1, 1, false},
      {"refuse-schema", "tool", "tool", 2, 1},
      {"refuse-tools", "schema", "schema", 1, 2},
      {"refuse-structure", "prose", "prose", 2, 2},
      {"router-without-tools", "prose", "prose", 3, 3},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.scenario);
    tag_ = RandomHex(4);
    HttpModelOptions options = Options(row.scenario);
    options.api_base = (*server).Base();
    Result<std::unique_ptr<Model>> model = MakeHttpModel(options);
    ASSERT_TRUE(model.ok());
    ModelRequest request{"analysis", "You analyse.", "What limits it?", "a", Deadline::After(30), kSchema};
    const int calls = anthropic() ? row.anthropic_calls : row.openai_calls;
    for (const int expected : {calls, calls + 1}) {
      const ModelReply reply = (*model)->Ask(request, {});
      ASSERT_TRUE(reply.ok()) << reply.message;
      EXPECT_EQ(*ParseJson(reply.text), *ParseJson(kAnalysis)) << reply.text;
      EXPECT_EQ(reply.finish_reason, "stop");
      EXPECT_EQ(static_cast<int>((*server).Requests(tag_).size()), expected)
          << "what is refused is remembered";
    }
    const Json body = GetMember((*server).Requests(tag_).back(), "body");
    const std::string way = anthropic() ? row.anthropic : row.openai;
    const Json& format = anthropic() ? GetMember(GetMember(body, "output_config"), "format")
                                     : GetMember(body, "response_format");
    EXPECT_EQ(GetString(format, "type"), way == "schema" ? "json_schema" : "");
    EXPECT_EQ(body.contains("tools"), way == "tool");
    EXPECT_EQ(GetMember(body, "tool_choice").is_object(), way == "tool");
    request.schema.clear();
    ASSERT_TRUE((*model)->Ask(request, {}).ok() || !row.streams);
    const Json prose = GetMember((*server).Requests(tag_).back(), "body");
    for (const char* field : {"tools", "response_format", "output_config"})
      EXPECT_FALSE(prose.contains(field)) << field << " is for data alone";
  }
}

TEST_P(HttpModelTest, CountsWhatWasCachedAndWhatWasThought) {
  const ModelReply reply = Ask("cached");
  ASSERT_TRUE(reply.ok()) << reply.message;
  EXPECT_EQ(reply.usage.cached_tokens, 6);
  EXPECT_EQ(reply.usage.cache_write_tokens, anthropic() ? 3 : 0);
  EXPECT_EQ(reply.usage.prompt_tokens, anthropic() ? 20 : 11)
      << "Anthropic tells the parts, OpenAI the whole";
  EXPECT_EQ(reply.usage.reasoning_tokens, anthropic() ? 2 : 40);
  EXPECT_EQ(reply.usage.completion_tokens, anthropic() ? 3 : 43) << "thinking is billed as output";
}

TEST_P(HttpModelTest, MarksTheSystemPromptForTheCacheWhereThatIsAsked) {
  HttpModelOptions options = Options("fine");
  ASSERT_TRUE(Ask(options).ok());
  const Json system = GetMember(GetMember(Requests()[0], "body"), "system");
  if (anthropic()) {
    ASSERT_TRUE(system.is_array());
    EXPECT_EQ(GetString(system[0], "text"), "You write kernels.");
    EXPECT_EQ(GetString(GetMember(system[0], "cache_control"), "type"), "ephemeral");
  }
  tag_ = RandomHex(4);
  const ModelReply refused = Ask("refuse-cache-control");
  EXPECT_TRUE(refused.ok()) << refused.message;
  EXPECT_EQ(refused.attempts, anthropic() ? 2 : 1);
}

TEST_P(HttpModelTest, SendsTheEffortOfReasoningAndSaysWhenAModelTakesNone) {
  HttpModelOptions options = Options("fine");
  options.reasoning_effort = "low";
  ASSERT_TRUE(Ask(options).ok());
  const Json body = GetMember(Requests()[0], "body");
  EXPECT_EQ(GetString(anthropic() ? GetMember(body, "output_config") : body,
                      anthropic() ? "effort" : "reasoning_effort"),
            "low");
  tag_ = RandomHex(4);
  options.model = Options("refuse-effort").model;
  const ModelReply refused = Ask(options);
  EXPECT_EQ(refused.failure, ModelFailure::kRefused);
  EXPECT_THAT(refused.message, HasSubstr("takes no --reasoning-effort low; leave it out"));
  EXPECT_EQ(Requests().size(), 1u) << "it is not left out in silence";
}

TEST_P(HttpModelTest, LeavesOutAnEffortThatWasMeantForAnotherModelOnceAndSaysSo) {
  HttpModelOptions options = Options("refuse-effort");
  options.reasoning_effort = "high";
  options.effort_may_be_left_out = true;
  const std::unique_ptr<Model> model = std::move(*MakeHttpModel(options));
  const auto ask = [&] {
    ModelRequest request;
    request.call_type = "seed_repair";
    request.prompt = "mend it";
    return model->Ask(request, {});
  };
  const ModelReply first = ask();
  ASSERT_TRUE(first.ok()) << first.message;
  EXPECT_EQ(first.attempts, 2);
  EXPECT_THAT(first.notes,
              testing::Contains(HasSubstr("takes no --reasoning-effort high, which is left out")));
  const ModelReply second = ask();
  ASSERT_TRUE(second.ok()) << second.message;
  EXPECT_EQ(second.attempts, 1) << "it is not sent again";
  EXPECT_TRUE(second.notes.empty());
  EXPECT_EQ(Requests().size(), 3u);
}

TEST_P(HttpModelTest, ExplainsItselfOnceToAModelThatDeclines) {
  const ModelReply once = Ask("declined");
  ASSERT_TRUE(once.ok()) << once.message;
  EXPECT_THAT(once.notes, testing::Contains(HasSubstr("declined")));
  ASSERT_EQ(Requests().size(), 2u);
  const auto said = [this](size_t i) {
    return DumpJson(GetMember(GetMember(Requests()[i], "body"), "messages"));
  };
  EXPECT_THAT(said(0), Not(HasSubstr("performance work")));
  EXPECT_THAT(said(1), HasSubstr("performance work"));
  tag_ = RandomHex(4);
  const ModelReply always = Ask("declined:0");
  EXPECT_EQ(always.failure, ModelFailure::kDeclined);
  EXPECT_FALSE(StopsTheRun(always.failure)) << "another prompt may be answered";
  EXPECT_THAT(always.message, HasSubstr("the model declined to answer"));
  EXPECT_EQ(Requests().size(), 2u);
  EXPECT_GT(always.usage.prompt_tokens, 11) << "both are billed";
}

TEST_P(HttpModelTest, HangsUpOnAReplyThatRepeatsItself) {
  const ModelReply once = Ask("loop");
  ASSERT_TRUE(once.ok()) << once.message;
  EXPECT_EQ(once.text, "Hello from fake");
  EXPECT_THAT(once.notes, testing::Contains(HasSubstr("endless repetition")));
  ASSERT_EQ(Requests().size(), 2u);
  EXPECT_THAT(DumpJson(GetMember(GetMember(Requests()[1], "body"), "messages")),
              HasSubstr("every line once"));
  EXPECT_TRUE(once.usage.estimated) << "what came before is billed";
  EXPECT_GT(once.usage.completion_tokens, 500);
  tag_ = RandomHex(4);
  const ModelReply always = Ask("loop:0");
  EXPECT_EQ(always.failure, ModelFailure::kBadReply);
  EXPECT_EQ(Requests().size(), 3u);
}

TEST_P(HttpModelTest, RequestsSideBySideStayWithinTheServersLimits) {
  HttpModelOptions options = Options("limited:3");
  Result<std::unique_ptr<Model>> model = MakeHttpModel(options);
  ASSERT_TRUE(model.ok());
  const ModelRequest request{"seed", "", "hi", "k", Deadline::After(60)};
  std::vector<ModelReply> replies(8);
  std::vector<std::thread> threads;
  for (ModelReply& reply : replies) threads.emplace_back([&] { reply = (*model)->Ask(request, {}); });
  for (std::thread& thread : threads) thread.join();
  for (const ModelReply& reply : replies) EXPECT_EQ(reply.text, "Hello from fake") << reply.message;
  // Before the first response no limit is known: all eight requests are sent, and three are answered. From
  // then on all threads use what one has learned, so no more are refused.
  EXPECT_LE(Requests().size(), 13u);
  EXPECT_GE(Requests().size(), 8u);
}

TEST_P(HttpModelTest, ReachesAScenarioByPathWithAndWithoutVersionAndSlash) {
  for (const char* end : {"", "/", "/v1", "/v1/"}) {
    HttpModelOptions options = Options("fine");
    options.api_base += "/s/think-tags" + std::string(end);
    EXPECT_EQ(Ask(options).text, "the answer") << end;
  }
}

TEST_P(HttpModelTest, ServesSeveralThreadsAtOnce) {
  Result<std::unique_ptr<Model>> model = MakeHttpModel(Options("500:4"));
  ASSERT_TRUE(model.ok());
  std::vector<ModelReply> replies(8);
  std::vector<std::thread> threads;
  for (ModelReply& reply : replies)
    threads.emplace_back([&] { reply = (*model)->Ask({"seed", "", "hi", "k", Deadline::Never()}, {}); });
  for (std::thread& thread : threads) thread.join();
  for (const ModelReply& reply : replies) EXPECT_EQ(reply.text, "Hello from fake") << reply.message;
  EXPECT_EQ(Requests().size(), 12u);
}

TEST_P(HttpModelTest, EndsAtTheRequestsDeadline) {
  HttpModelOptions options = Options("silent");
  options.limits.idle_seconds = 120;
  Result<std::unique_ptr<Model>> model = MakeHttpModel(options);
  const ModelReply reply = (*model)->Ask({"seed", "", "hi", "k", Deadline::After(0.3)}, {});
  EXPECT_EQ(FailureName(reply.failure), "out_of_time") << reply.message;
  EXPECT_LT(reply.seconds, 40);
}

TEST_P(HttpModelTest, EndsSoonAfterCtrlC) {
  // A stalled stream, a server that never responds, and a long wait between attempts.
  for (const char* scenario : {"stall:0", "silent", "500:99"}) {
    SCOPED_TRACE(scenario);
    HttpModelOptions options = Options(scenario);
    options.limits.idle_seconds = options.retry.backoff_seconds = 60;
    // In a separate process, because an interrupted process stays interrupted.
    const pid_t pid = fork();
    if (pid == 0) {
      InstallInterruptHandler();
      int64_t raised_ns = 0;
      std::thread([&] {
        usleep(400'000);
        raised_ns = NowNs();
        raise(SIGINT);
      }).detach();
      Result<std::unique_ptr<Model>> model = MakeHttpModel(options);
      const ModelReply reply = (*model)->Ask({"seed", "", "hi", "k", Deadline::Never()}, {});
      const double late = static_cast<double>(NowNs() - raised_ns) * 1e-9;
      _exit(reply.failure != ModelFailure::kInterrupted ? 1 : raised_ns == 0 ? 2 : late > 0.2 ? 3 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0) << "1: not interrupted, 2: ended before, 3: later than 0.2 s";
  }
}

TEST_P(HttpModelTest, SaysWhenNobodyListens) {
  HttpModelOptions options = Options("fine");
  options.api_base = "http://127.0.0.1:1";
  const ModelReply refused = Ask(options);
  EXPECT_EQ(refused.failure, ModelFailure::kUnreachable);
  EXPECT_THAT(refused.message, HasSubstr("127.0.0.1:1"));
  EXPECT_EQ(refused.attempts, 3) << "a server never reached gets fewer attempts";
  options.api_base = "http://no-such-host.invalid";
  EXPECT_THAT(Ask(options).message, HasSubstr("no-such-host.invalid cannot be found"));
}

TEST_P(HttpModelTest, HearsARefusalThatComesBeforeTheRequestIsRead) {
  HttpModelOptions options = Options("fine");
  options.api_base += "/s/early-refusal";
  Result<std::unique_ptr<Model>> model = MakeHttpModel(options);
  const ModelReply reply =
      (*model)->Ask({"seed", "", std::string(8 << 20, 'x'), "k", Deadline::After(120)}, {});
  // The reset may overtake the response. A hang or a success would be wrong.
  EXPECT_FALSE(reply.ok());
  EXPECT_LT(reply.seconds, 60);
}

TEST_P(HttpModelTest, LetsOnlyTheRightKeyIn) {
  const FakeServer strict({"--key", kServerKey});
  HttpModelOptions options = Options("fine");
  options.api_base = strict.Base();
  EXPECT_TRUE(Ask(options).ok());
  setenv("OPENAI_API_KEY", "sk-some-other-key-that-is-wrong", 1);
  setenv("ANTHROPIC_API_KEY", "sk-some-other-key-that-is-wrong", 1);
  const ModelReply wrong = Ask(options);
  EXPECT_EQ(wrong.failure, ModelFailure::kWrongKey);
  EXPECT_THAT(wrong.message, HasSubstr(anthropic() ? "ANTHROPIC_API_KEY" : "OPENAI_API_KEY"));
  EXPECT_THAT(wrong.message, Not(HasSubstr("some-other-key")));
  unsetenv("OPENAI_API_KEY");
  unsetenv("ANTHROPIC_API_KEY");
  EXPECT_THAT(Ask(options).message, HasSubstr("no key was sent"));
}

TEST_P(HttpModelTest, PlaysARecordingByCallType) {
  Result<TempFolder> folder = TempFolder::Make("hone-fake-replies");
  ASSERT_TRUE(WriteFileAtomic(folder->path() / "001_seed.txt", "first seed").ok());
  ASSERT_TRUE(WriteFileAtomic(folder->path() / "002_analysis.txt", "an analysis").ok());
  ASSERT_TRUE(WriteFileAtomic(folder->path() / "003_seed.txt", "second seed").ok());
  const FakeServer recorded({"--replies", folder->path().string()});
  HttpModelOptions options = Options("fine");
  options.api_base = recorded.Base();
  EXPECT_EQ(Ask(options).text, "first seed");
  EXPECT_EQ(Ask(options).text, "second seed");
}

class TlsTest : public HttpModelTest {
 protected:
  // A certificate for localhost only, so that 127.0.0.1 is the wrong name for it.
  void SetUp() override {
    HttpModelTest::SetUp();
    ChildSpec spec;
    spec.argv = {"openssl",
                 "req",
                 "-x509",
                 "-newkey",
                 "ec",
                 "-pkeyopt",
                 "ec_paramgen_curve:prime256v1",
                 "-nodes",
                 "-days",
                 "2",
                 "-subj",
                 "/CN=localhost",
                 "-addext",
                 "subjectAltName=DNS:localhost,DNS:llm.test",
                 "-keyout",
                 path("key"),
                 "-out",
                 path("cert")};
    spec.env = CurrentEnvironment();
    const Result<ExitReport> made = RunProgram(spec, Deadline::After(20));
    ASSERT_TRUE(made.ok() && made->code == 0) << "openssl is needed to make a certificate";
    tls_ = std::make_unique<FakeServer>(std::vector<std::string>{"--tls", path("cert"), path("key")});
  }
  std::string path(const char* name) const { return folder_->path() / name; }

  Result<TempFolder> folder_ = TempFolder::Make("hone-tls-test");
  std::unique_ptr<FakeServer> tls_;
};

INSTANTIATE_TEST_SUITE_P(Apis, TlsTest, testing::Values("openai"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(TlsTest, RefusesACertificateItCannotTrustAndNamesTheWayOut) {
  HttpModelOptions options = Options("fine");
  options.api_base = tls_->Base("https", "localhost");
  const ModelReply refused = Ask(options);
  EXPECT_EQ(refused.failure, ModelFailure::kRefusedTls) << refused.message;
  EXPECT_THAT(refused.message, HasSubstr("SSL_CERT_FILE"));
  EXPECT_EQ(refused.attempts, 1);
  EXPECT_TRUE(tls_->Requests(tag_).empty()) << "nothing may be sent, the key least of all";

  setenv("SSL_CERT_FILE", path("cert").c_str(), 1);
  EXPECT_EQ(Ask(options).text, "Hello from fake");

  options.api_base = tls_->Base("https", "127.0.0.1");
  const ModelReply other_name = Ask(options);
  EXPECT_EQ(other_name.failure, ModelFailure::kRefusedTls) << other_name.message;
  EXPECT_THAT(other_name.message, HasSubstr("mismatch"));

  setenv("SSL_CERT_FILE", "/no/such/file", 1);
  EXPECT_EQ(Ask(options).failure, ModelFailure::kRefusedTls);
}

TEST_P(TlsTest, SaysWhenAServerSpeaksNoTls) {
  HttpModelOptions options = Options("fine");
  options.api_base = server_->Base("https", "localhost");
  const ModelReply reply = Ask(options);
  EXPECT_EQ(reply.failure, ModelFailure::kUnreachable);
  EXPECT_THAT(reply.message, HasSubstr("does not speak TLS"));
}

TEST_P(TlsTest, CountsWhatArrivedBeforeAReset) {
  setenv("SSL_CERT_FILE", path("cert").c_str(), 1);
  HttpModelOptions options = Options("reset:1");
  options.api_base = tls_->Base("https", "localhost");
  const ModelReply reply = Ask(options);
  EXPECT_EQ(reply.text, "Hello from fake") << reply.message;
  EXPECT_THAT(reply.notes, testing::Contains(HasSubstr("connection lost")));
  EXPECT_TRUE(reply.usage.estimated);
  EXPECT_GT(reply.usage.completion_tokens, 5) << "half a reply came before the reset";
}

TEST_P(TlsTest, GoesThroughAProxy) {
  const FakeServer proxy({"--connect-to", std::to_string(tls_->port())});
  setenv("https_proxy", proxy.Base().c_str(), 1);
  setenv("http_proxy", proxy.Base().c_str(), 1);
  setenv("SSL_CERT_FILE", path("cert").c_str(), 1);
  HttpModelOptions options = Options("fine");
  options.api_base = "https://llm.test";
  EXPECT_EQ(Ask(options).text, "Hello from fake");
  EXPECT_EQ(tls_->Requests(tag_).size(), 1u);
  options.api_base = "http://llm.test";
  EXPECT_EQ(Ask(options).text, "Hello from fake");
  EXPECT_EQ(proxy.Requests(tag_).size(), 1u);
}

TEST(MakeHttpModel, RefusesOptionsThatMakeNoSense) {
  HttpModelOptions options;
  EXPECT_THAT(MakeHttpModel(options).error().message, HasSubstr("--model"));
  options.model = "m";
  options.api_base = "ftp://x";
  EXPECT_EQ(MakeHttpModel(options).error().kind, ErrorKind::kUsage);
  EXPECT_FALSE(ApiStyleFromName("opnai").ok());
}

}  // namespace
}  // namespace hone

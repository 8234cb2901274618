// Tests several replies to one prompt with tests/fakes/fake_llm_server.py: in one request if the server
// supports that, otherwise one by one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/ids.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/text.h"
#include "model/chat_listener.h"
#include "model/http_model.h"
#include "model/replay.h"
#include "model/replies.h"
#include "process/child.h"

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// The server of all tests here, and the requests that it received.
class SeveralReplies : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ChildSpec spec;
    spec.argv = {"python3", "-u", HONE_SOURCE_DIR "/tests/fakes/fake_llm_server.py", "--log", Log().string()};
    spec.env = CurrentEnvironment();
    server_ = std::move(*Child::Spawn(spec)).release();
    const Deadline deadline = Deadline::After(20);
    while (port_ == 0 && server_->running() && !deadline.passed()) {
      const std::string out = server_->out();
      if (StartsWith(out, "port ") && EndsWith(out, "\n")) port_ = std::stoi(out.substr(5));
      SleepUnlessInterrupted(0.01);
    }
    ASSERT_NE(port_, 0) << server_->err();
  }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
    std::error_code ignored;
    fs::remove(Log(), ignored);
  }
  void SetUp() override { setenv("OPENAI_API_KEY", "sk-test-0123456789abcdefghij", 1); }

  std::unique_ptr<Model> Open(const std::string& scenario, ApiStyle style = ApiStyle::kOpenAi) {
    HttpModelOptions options;
    options.style = style;
    options.model = (style == ApiStyle::kAnthropic ? "claude-fake/" : "fake/") + scenario + "@" + tag_;
    options.api_base = "http://127.0.0.1:" + std::to_string(port_);
    options.retry.backoff_seconds = 0.01;
    const TempFolder folder = *TempFolder::Make("hone-several-");
    EXPECT_TRUE(WriteFileAtomic(folder.path() / "prices.json",
                                "{\"" + options.model + "\": {\"input\": 1000000, \"output\": 1000000}}")
                    .ok());
    EXPECT_TRUE(options.prices.Override(folder.path() / "prices.json").ok());
    Result<std::unique_ptr<Model>> model = MakeHttpModel(options);
    EXPECT_TRUE(model.ok()) << model.error().message;
    return std::move(*model);
  }
  ModelReply Ask(Model& model, int n) {
    ModelProgress progress;
    progress.tokens = [this](int64_t tokens) { most_tokens_ = std::max(most_tokens_, tokens); };
    return model.AskForSeveral(
        {"seed", "You write kernels.", "Please write one.", "seed0", Deadline::After(30)}, n, progress);
  }
  // The n of every request, 1 if it had none.
  std::vector<int64_t> Asked() const {
    std::vector<int64_t> asked;
    const Result<std::string> text = ReadFile(Log());
    for (const std::string& line : Lines(text.ok() ? *text : "")) {
      const Result<Json> entry = ParseJson(line);
      if (entry.ok() && GetString(*entry, "tag") == tag_)
        asked.push_back(GetInt(GetMember(*entry, "body"), "n", 1));
    }
    return asked;
  }
  static std::vector<std::string> TextsOf(const ModelReply& reply) {
    std::vector<std::string> texts = {reply.text};
    for (const ReplyChoice& one : reply.more) texts.push_back(one.text);
    return texts;
  }
  static fs::path Log() { return fs::temp_directory_path() / ("hone-several-" + kLogName_ + ".jsonl"); }

  static inline const std::string kLogName_ = RandomHex(6);
  static inline Child* server_ = nullptr;
  static inline int port_ = 0;
  std::string tag_ = RandomHex(4);
  int64_t most_tokens_ = 0;
};

TEST_F(SeveralReplies, ComeInOneRequestWhosePiecesAreMixed) {
  const ModelReply reply = Ask(*Open("fine"), 3);
  ASSERT_TRUE(reply.ok()) << reply.message;
  EXPECT_THAT(TextsOf(reply),
              ElementsAre("Hello from fake", "Hello from fake, reply 2", "Hello from fake, reply 3"));
  EXPECT_EQ(reply.more[1].finish_reason, "stop");
  EXPECT_THAT(Asked(), ElementsAre(3));
  // As billed: the prompt once, and the generated tokens of all replies.
  EXPECT_EQ(reply.usage.prompt_tokens, 11);
  EXPECT_EQ(reply.usage.completion_tokens, 3 + 6 + 6);
  EXPECT_FALSE(reply.usage.estimated);
  EXPECT_DOUBLE_EQ(reply.usage.cost_usd, 26);
  EXPECT_EQ(reply.attempts, 1);
  EXPECT_GE(most_tokens_, 9) << "of all of them together";
  EXPECT_THAT(reply.notes, IsEmpty());
}

TEST_F(SeveralReplies, ASingleOneIsAskedForAsAlways) {
  const ModelReply reply = Ask(*Open("fine"), 1);
  EXPECT_THAT(TextsOf(reply), ElementsAre("Hello from fake"));
  EXPECT_THAT(Asked(), ElementsAre(1));
}

TEST_F(SeveralReplies, ArriveInOneDocumentToo) {
  HttpModelOptions options;
  options.model = "fake/fine@" + tag_;
  options.api_base = "http://127.0.0.1:" + std::to_string(port_);
  options.extra = {{"stream", false}};
  const ModelReply reply = Ask(**MakeHttpModel(options), 2);
  EXPECT_THAT(TextsOf(reply), ElementsAre("Hello from fake", "Hello from fake, reply 2"));
}

TEST_F(SeveralReplies, AServerThatRefusesThemIsAskedOneByOneAndRemembered) {
  for (const char* scenario : {"refuse-n", "refuse-n-silently"}) {
    tag_ = RandomHex(4);
    std::unique_ptr<Model> model = Open(scenario);
    const ModelReply reply = Ask(*model, 3);
    ASSERT_TRUE(reply.ok()) << reply.message;
    EXPECT_EQ(reply.more.size(), 2U);
    EXPECT_THAT(Asked(), ElementsAre(3, 1, 1, 1)) << scenario;
    EXPECT_EQ(reply.usage.prompt_tokens, 33) << "each request has its prompt";
    EXPECT_THAT(Join(reply.notes, "\n"), HasSubstr("1 of 3 replies came in one request"));
    Ask(*model, 2);
    EXPECT_THAT(Asked(), ElementsAre(3, 1, 1, 1, 1, 1)) << scenario;
  }
}

TEST_F(SeveralReplies, WhatAServerGivesTooFewOfIsAskedForOneByOne) {
  std::unique_ptr<Model> one = Open("gives-fewer");
  EXPECT_EQ(Ask(*one, 3).more.size(), 2U);
  EXPECT_EQ(Ask(*one, 2).more.size(), 1U);
  EXPECT_THAT(Asked(), ElementsAre(3, 1, 1, 1, 1))
      << "a server that gave a single one is not asked for two again";
  tag_ = RandomHex(4);
  std::unique_ptr<Model> two = Open("gives-fewer:2");
  EXPECT_EQ(Ask(*two, 3).more.size(), 2U);
  EXPECT_EQ(Ask(*two, 3).more.size(), 2U);
  EXPECT_THAT(Asked(), ElementsAre(3, 1, 3, 1));
}

TEST_F(SeveralReplies, AnthropicsServersGiveOneToARequest) {
  setenv("ANTHROPIC_API_KEY", "sk-test-0123456789abcdefghij", 1);
  const ModelReply reply = Ask(*Open("fine", ApiStyle::kAnthropic), 3);
  ASSERT_TRUE(reply.ok()) << reply.message;
  EXPECT_EQ(reply.more.size(), 2U);
  EXPECT_THAT(Asked(), ElementsAre(1, 1, 1));
  EXPECT_EQ(reply.usage.prompt_tokens, 33);
  EXPECT_EQ(reply.attempts, 3);
}

TEST_F(SeveralReplies, OnesThatAreOfNoUseAreDroppedAndBilled) {
  const ModelReply reply = Ask(*Open("mixed"), 5);
  ASSERT_TRUE(reply.ok()) << reply.message;
  // A cut-off reply may still contain a whole file, so it is kept after the others.
  EXPECT_THAT(TextsOf(reply), ElementsAre("Hello from fake", "Hello from fake, reply 2", "half of a rep"));
  EXPECT_EQ(reply.more[1].finish_reason, "length");
  EXPECT_THAT(reply.notes, ElementsAre("of 5 replies not used: 1 empty, 1 declined"));
  EXPECT_THAT(Asked(), ElementsAre(5));
  EXPECT_EQ(reply.usage.completion_tokens, 1 + 1 + 3 + 3 + 6);
}

TEST_F(SeveralReplies, AreAskedForAgainIfAllAreOfNoUse) {
  const ModelReply reply = Ask(*Open("several-empty:1"), 2);
  ASSERT_TRUE(reply.ok()) << reply.message;
  EXPECT_THAT(TextsOf(reply), ElementsAre("Hello from fake", "Hello from fake, reply 2"));
  EXPECT_THAT(Asked(), ElementsAre(2, 2));
}

TEST_F(SeveralReplies, OneThatRepeatsItselfEndsWhenTheOthersHave) {
  const ModelReply reply = Ask(*Open("several-loop"), 3);
  ASSERT_TRUE(reply.ok()) << reply.message;
  EXPECT_THAT(TextsOf(reply), ElementsAre("Hello from fake, reply 2", "Hello from fake, reply 3"));
  EXPECT_THAT(Asked(), ElementsAre(3));
  EXPECT_TRUE(reply.usage.estimated) << "the server had no chance to tell";
  EXPECT_GT(reply.usage.completion_tokens, 500) << "the endless one is billed";
}

TEST_F(SeveralReplies, ABrokenConnectionCostsThoseThatHadNotEnded) {
  const ModelReply reply = Ask(*Open("several-cut"), 3);
  ASSERT_TRUE(reply.ok()) << reply.message;
  EXPECT_THAT(TextsOf(reply), ElementsAre("Hello from fake, reply 2"));
  EXPECT_THAT(Asked(), ElementsAre(3));
  EXPECT_TRUE(reply.usage.estimated);
  EXPECT_GT(reply.usage.completion_tokens, EstimateTokens(reply.text));
}

TEST_F(SeveralReplies, AreNotAskedForBehindTheBack) {
  HttpModelOptions options;
  options.model = "fake/fine";
  options.api_base = "http://127.0.0.1:" + std::to_string(port_);
  options.extra = {{"n", 4}};
  const Result<std::unique_ptr<Model>> model = MakeHttpModel(options);
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.error().message, HasSubstr("--replies"));
}

TEST(ReplyKeys, GoThereAndBack) {
  EXPECT_EQ(ReplyKey("seed0", 1), "seed0");
  EXPECT_EQ(ReplyKey("gen12.improve", 3), "gen12.improve~3");
  EXPECT_EQ(CallKeyOf("gen12.improve~3"), "gen12.improve");
  EXPECT_EQ(ReplyNumberOf("gen12.improve~3"), 3);
  for (const char* key : {"seed0", "seed0~1", "seed0~", "seed0~x", "seed0~2.mended", ""}) {
    EXPECT_EQ(CallKeyOf(key), key);
    EXPECT_EQ(ReplyNumberOf(key), 1);
  }
  const std::vector<ReplyChoice> two = {{"a\n\"b\"", "t", "stop"}, {"", "", "length"}};
  const std::vector<ReplyChoice> read = RepliesFrom(RepliesText(two));
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].text, two[0].text);
  EXPECT_EQ(read[1].finish_reason, "length");
  EXPECT_EQ(RepliesText({}), "");
  EXPECT_THAT(RepliesFrom("no JSON"), IsEmpty());
}

TEST(MergeReplies, OneThatFailedIsANoteAndAllFailedIsAFailure) {
  ModelReply good, late, wrong_key;
  good.text = "file";
  good.usage.prompt_tokens = 10;
  late.failure = ModelFailure::kBadReply;
  late.message = "nothing came";
  late.usage.prompt_tokens = 5;
  wrong_key.failure = ModelFailure::kWrongKey;
  const ModelReply some = MergeReplies({late, good});
  EXPECT_TRUE(some.ok());
  EXPECT_EQ(some.text, "file");
  EXPECT_EQ(some.usage.prompt_tokens, 15) << "what failed was billed as well";
  EXPECT_THAT(some.notes, ElementsAre("reply 1 of 2 did not come: nothing came"));
  EXPECT_EQ(MergeReplies({late, wrong_key, late}).failure, ModelFailure::kWrongKey);
  ModelReply interrupted;
  interrupted.failure = ModelFailure::kInterrupted;
  EXPECT_EQ(MergeReplies({good, interrupted}).failure, ModelFailure::kInterrupted) << "nothing of it is kept";
}

TEST(SeveralRecordedReplies, AreThoseOfTheCallItselfAndNoOthers) {
  const TempFolder folder = *TempFolder::Make("hone-several-");
  std::vector<RecordedCall> calls;
  for (const char* key : {"seed0", "seed0~2", "seed1"}) {
    RecordedCall call{"seed", key, {}};
    call.reply.text = key;
    calls.push_back(call);
  }
  ASSERT_TRUE(WriteReplay(folder.path() / "keyed", calls).ok());
  std::unique_ptr<Model> keyed = std::move(*OpenReplay(folder.path() / "keyed"));
  const auto texts = [](const ModelReply& reply) {
    std::vector<std::string> all = {reply.text};
    for (const ReplyChoice& one : reply.more) all.push_back(one.text);
    return all;
  };
  EXPECT_THAT(texts(keyed->AskForSeveral({"seed", "", "", "seed0"}, 3, {})), ElementsAre("seed0", "seed0~2"));
  EXPECT_THAT(texts(keyed->AskForSeveral({"seed", "", "", "seed1"}, 3, {})), ElementsAre("seed1"));
  // Written by hand, without keys, so the next ones are used.
  ASSERT_TRUE(MakeFolders(folder.path() / "plain").ok());
  for (const char* name : {"001_seed.txt", "002_seed.txt", "003_seed.txt"})
    ASSERT_TRUE(WriteFileAtomic(folder.path() / "plain" / name, name).ok());
  std::unique_ptr<Model> plain = std::move(*OpenReplay(folder.path() / "plain"));
  const ModelReply first = plain->AskForSeveral({"seed", "", "a prompt", "seed0"}, 2, {});
  EXPECT_THAT(texts(first), ElementsAre("001_seed.txt", "002_seed.txt"));
  EXPECT_EQ(first.usage.prompt_tokens, EstimateTokens("a prompt"));
  EXPECT_THAT(texts(plain->AskForSeveral({"seed", "", "", "seed1"}, 2, {})), ElementsAre("003_seed.txt"));
}

}  // namespace
}  // namespace hone

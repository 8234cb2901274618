#include "model/chat_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/http_model.h"

namespace hone {
namespace {

using testing::ElementsAre;

std::vector<std::string> Events(const std::string& bytes, size_t piece) {
  std::vector<std::string> seen;
  SseReader reader;
  const auto note = [&](const SseEvent& event) {
    seen.push_back(event.name + "|" + event.data);
    return true;
  };
  for (size_t at = 0; at < bytes.size(); at += piece)
    reader.Add(std::string_view(bytes).substr(at, piece), note);
  reader.Finish(note);
  return seen;
}

TEST(SseReader, YieldsTheSameEventsHoweverBytesAreCut) {
  const std::string bytes =
      ": comment\r\n\r\nevent: a\r\ndata: one\r\ndata: two\r\n\r\ndata:{\"x\":1}\n\nid: 7\n\ndata: "
      "caf\xc3\xa9 \xff\rdata: tail";
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    EXPECT_THAT(Events(bytes, piece),
                ElementsAre("a|one\ntwo", "|{\"x\":1}", "|caf\xc3\xa9 \xef\xbf\xbd\ntail"))
        << "pieces of " << piece;
  }
}

ChatTurn ReadAll(const ChatApi& api, const std::vector<std::string>& events) {
  ChatTurn turn;
  for (const std::string& data : events) EXPECT_TRUE(api.ReadEvent({"", data}, turn)) << data;
  return turn;
}

TEST(OpenAiChat, ReadsDeltasThinkingAndUsage) {
  const auto api = MakeOpenAiChat();
  const ChatTurn turn = ReadAll(
      *api, {R"({"model":"m","choices":[{"delta":{"role":"assistant","content":null,"reasoning":"hm "}}]})",
             R"({"choices":[{"delta":{"reasoning_content":"well"}}],"usage":null})",
             R"({"choices":[{"delta":{"content":"a"}}]})",
             R"({"choices":[{"delta":{"content":[{"type":"text","text":"b"}]}}]})",
             R"({"choices":[{"delta":{},"finish_reason":"stop"}]})",
             R"({"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}})", "[DONE]"});
  EXPECT_EQ(turn.text, "ab");
  EXPECT_EQ(turn.thinking, "hm well");
  EXPECT_EQ(turn.finish_reason, "stop");
  EXPECT_EQ(turn.model, "m");
  EXPECT_EQ(turn.prompt_tokens, 5);
  EXPECT_EQ(turn.completion_tokens, 7);
  EXPECT_TRUE(turn.ended && turn.nothing_follows);
}

TEST(OpenAiChat, SendsWhatTheDialectAllows) {
  const auto api = MakeOpenAiChat();
  const ChatRequest request{"m", "be good", {{"user", "hi"}}};
  ChatDialect dialect;
  dialect.max_tokens = 100;
  dialect.max_completion_tokens = true;
  Json body = api->Body(request, dialect, 0.5);
  EXPECT_EQ(body["messages"][0]["role"], "system");
  EXPECT_EQ(body["stream_options"]["include_usage"], true);
  EXPECT_EQ(body["max_completion_tokens"], 100);
  EXPECT_EQ(body["temperature"], 0.5);
  dialect.max_completion_tokens = dialect.temperature = dialect.stream = false;
  body = api->Body(request, dialect, 0.5);
  EXPECT_EQ(body["max_tokens"], 100);
  for (const char* name : {"stream", "stream_options", "temperature", "max_completion_tokens"})
    EXPECT_FALSE(body.contains(name)) << name;
}

TEST(AnthropicMessages, ReadsBlocksThinkingAndUsage) {
  const auto api = MakeAnthropicMessages();
  const ChatTurn turn = ReadAll(
      *api,
      {R"({"type":"message_start","message":{"model":"c","usage":{"input_tokens":5,"cache_read_input_tokens":2,"output_tokens":1}}})",
       R"({"type":"ping"})",
       R"({"type":"content_block_start","content_block":{"type":"thinking","thinking":""}})",
       R"({"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"hm"}})",
       R"({"type":"content_block_delta","delta":{"type":"signature_delta","signature":"zzz"}})",
       R"({"type":"content_block_delta","delta":{"type":"text_delta","text":"ab"}})",
       R"({"type":"some_future_event"})",
       R"({"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":9}})",
       R"({"type":"message_stop"})"});
  EXPECT_EQ(turn.text, "ab");
  EXPECT_EQ(turn.thinking, "hm");
  EXPECT_EQ(turn.finish_reason, "length");
  EXPECT_EQ(turn.prompt_tokens, 7);
  EXPECT_EQ(turn.completion_tokens, 9);
  EXPECT_TRUE(turn.ended);
}

TEST(BothApis, SayNoToWhatIsNotTheirs) {
  for (const auto& api : {MakeOpenAiChat(), MakeAnthropicMessages()}) {
    ChatTurn turn;
    for (const char* text : {"", "{", "[1]", "7", "\"x\""})
      EXPECT_FALSE(api->ReadEvent({"", text}, turn)) << text;
    for (const char* text : {"{}", "[]", "null", R"({"choices":"x","content":7})"})
      EXPECT_FALSE(api->ReadDocument(*ParseJson(text), turn)) << text;
    EXPECT_EQ(turn.text, "");
    EXPECT_TRUE(
        api->ReadDocument(*ParseJson(R"({"error":{"type":"overloaded_error","message":"busy"}})"), turn));
    EXPECT_EQ(turn.error, "overloaded_error: busy");
  }
}

TEST(ErrorText, IsFoundInEverySpelling) {
  const char* rows[][2] = {
      {R"({"error":{"message":"m","type":"t","code":"c"}})", "c: m"},
      {R"({"error":{"message":"m","code":404}})", "m"},
      {R"({"error":"plain"})", "plain"},
      {R"({"object":"error","message":"vllm","type":"BadRequestError"})", "BadRequestError: vllm"},
      {R"({"detail":"fastapi"})", "fastapi"},
      {R"({"error":{"reason":"odd"}})", R"({"reason":"odd"})"},
      {R"({"ok":true})", ""},
  };
  for (const auto& row : rows) EXPECT_EQ(ErrorText(*ParseJson(row[0])), row[1]);
}

TEST(ParseServerJson, TakesHalvesOfPairsAndBrokenBytes) {
  const auto parsed = [](const std::string& text) {
    Result<Json> json = ParseServerJson(text);
    return json.ok() ? json->get<std::string>() : "error";
  };
  EXPECT_EQ(parsed(R"("a\ud83d")"), "a\xef\xbf\xbd");
  EXPECT_EQ(parsed(R"("\ude00b")"),
            "\xef\xbf\xbd"
            "b");
  EXPECT_EQ(parsed(R"("\ud83d\ud83d\ude00")"), "\xef\xbf\xbd\xf0\x9f\x98\x80");
  EXPECT_EQ(parsed(R"("\\ud83d \ude00")"), "\\ud83d \xef\xbf\xbd") << "an escaped backslash is no escape";
  EXPECT_EQ(parsed("\"caf\xe9\""), "caf\xef\xbf\xbd");
  EXPECT_EQ(parsed(R"("\ud83)"), "error");
}

TEST(SplitThinking, MovesALeadingThoughtOutOfTheText) {
  struct Row {
    const char *before, *text, *thinking;
  };
  const Row rows[] = {
      {"<think>\nhm\n</think>\n\nanswer", "answer", "hm"},
      {"  <think>hm</think>answer </think>", "answer </think>", "hm"},
      {"hm, the opening tag is missing</think>answer", "answer", "hm, the opening tag is missing"},
      {"<think>cut off", "", "cut off"},
      {"print('<think>')", "print('<think>')", ""},
      {"", "", ""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.before);
    ChatTurn turn;
    turn.text = row.before;
    SplitThinking(turn);
    EXPECT_EQ(turn.text, row.text);
    EXPECT_EQ(turn.thinking, row.thinking);
  }
  ChatTurn apart;
  apart.thinking = "told in its own field";
  apart.text = "code = '</think>'";
  SplitThinking(apart);
  EXPECT_EQ(apart.text, "code = '</think>'");
}

TEST(JoinContinuation, DropsWhatIsSaidTwice) {
  struct Row {
    const char *before, *after, *joined;
  };
  const Row rows[] = {
      {"abc", "def", "abcdef"},
      {"```python\nx = 1\ny = ", "```python\n2\n```\n", "```python\nx = 1\ny = 2\n```\n"},
      {"```python\nx = 1\n", "```\ndone", "```python\nx = 1\n```\ndone"},
      {"text\n", "```python\nx\n```\n", "text\n```python\nx\n```\n"},
      {"value = compute(alpha, beta", "compute(alpha, beta, gamma)", "value = compute(alpha, beta, gamma)"},
      {"ab ", "ab c", "ab ab c"},
      {"```c\nint a;", "", "```c\nint a;"},
  };
  for (const Row& row : rows) EXPECT_EQ(JoinContinuation(row.before, row.after), row.joined);
}

}  // namespace
}  // namespace hone

// The chat completions API of OpenAI, also as implemented by DeepSeek, vLLM, SGLang, llama.cpp, Ollama,
// LiteLLM and others, with various omissions: usage may be missing, thinking has three names, a stream may
// end without [DONE], and a server may return one document although a stream was requested.
#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "model/chat_api.h"

namespace hone {

namespace {

class OpenAiChat : public ChatApi {
 public:
  std::string_view endpoint() const override { return "/chat/completions"; }
  bool gives_several() const override { return true; }

  std::vector<std::pair<std::string, std::string>> Headers(const std::string& key) const override {
    if (key.empty()) return {};
    return {{"Authorization", "Bearer " + key}};
  }

  Json Body(const ChatRequest& request, const ChatDialect& dialect,
            std::optional<double> temperature) const override {
    Json messages = Json::array();
    if (!request.system.empty()) messages.push_back({{"role", "system"}, {"content", request.system}});
    for (const ChatMessage& message : request.messages)
      messages.push_back({{"role", message.role}, {"content", message.text}});
    Json body = {{"model", request.model}, {"messages", std::move(messages)}};
    if (dialect.stream) body["stream"] = true;
    if (dialect.stream && dialect.stream_options) body["stream_options"] = {{"include_usage", true}};
    if (dialect.max_tokens > 0)
      body[dialect.max_completion_tokens ? "max_completion_tokens" : "max_tokens"] = dialect.max_tokens;
    if (temperature && dialect.temperature) body["temperature"] = *temperature;
    if (!request.effort.empty()) body["reasoning_effort"] = request.effort;
    if (!request.schema.empty()) AskForData(request, dialect, body);
    if (request.replies > 1 && dialect.several) body["n"] = request.replies;
    return body;
  }

  bool ReadEvent(const SseEvent& event, ChatTurn& turn) const override {
    if (Trim(event.data) == "[DONE]") {
      for (ChatChoice* reply : turn.choices()) reply->ended = true;
      turn.nothing_follows = true;
      return true;
    }
    Result<Json> chunk = ParseServerJson(event.data);
    return chunk.ok() && Read(*chunk, "delta", turn);
  }

  bool ReadDocument(const Json& document, ChatTurn& turn) const override {
    if (!Read(document, "message", turn)) return false;
    for (ChatChoice* reply : turn.choices()) reply->ended = true;
    return true;
  }

 private:
  // Some servers support tools but no schemas, others the reverse.
  static void AskForData(const ChatRequest& request, const ChatDialect& dialect, Json& body) {
    const Result<Json> schema = ParseJson(request.schema);
    if (!schema.ok() || !dialect.structured()) return;
    const std::string& name = request.schema_name;
    if (dialect.schema) {
      const Json format = {{"name", name}, {"strict", true}, {"schema", *schema}};
      body["response_format"] = {{"type", "json_schema"}, {"json_schema", format}};
      return;
    }
    const Json function = {{"name", name}, {"description", "Takes the reply."}, {"parameters", *schema}};
    body["tools"] = Json::array({{{"type", "function"}, {"function", function}}});
    body["tool_choice"] = {{"type", "function"}, {"function", {{"name", name}}}};
  }

  static void ReadUsage(const Json& usage, ChatTurn& turn) {
    turn.prompt_tokens = GetInt(usage, "prompt_tokens", turn.prompt_tokens);
    turn.completion_tokens = GetInt(usage, "completion_tokens", turn.completion_tokens);
    const Json& given = GetMember(usage, "prompt_tokens_details");
    // DeepSeek uses another name.
    turn.cached_tokens = GetInt(given, "cached_tokens", GetInt(usage, "prompt_cache_hit_tokens"));
    turn.cache_write_tokens = GetInt(given, "cache_write_tokens");
    turn.reasoning_tokens = GetInt(GetMember(usage, "completion_tokens_details"), "reasoning_tokens");
    // Some servers count thinking only in the total. It is billed as output.
    const int64_t apart = GetInt(usage, "total_tokens") - turn.prompt_tokens - turn.completion_tokens;
    if (apart <= 0 || turn.prompt_tokens < 0 || turn.completion_tokens < 0) return;
    turn.completion_tokens += apart;
    turn.reasoning_tokens = std::max(turn.reasoning_tokens, apart);
  }

  static bool Read(const Json& document, const char* part, ChatTurn& turn) {
    if (!document.is_object()) return false;
    const Json& choices = GetMember(document, "choices");
    if (!choices.is_array()) {
      turn.error = ErrorText(document);
      return !turn.error.empty();
    }
    if (turn.model.empty()) turn.model = GetString(document, "model");
    const Json& usage = GetMember(document, "usage");
    if (usage.is_object()) {
      ReadUsage(usage, turn);
    }
    for (size_t i = 0; i < choices.size(); ++i)
      if (ChatChoice* reply = ReplyAt(choices[i], i, turn)) ReadChoice(choices[i], part, *reply);
    return true;
  }

  // The pieces of several replies arrive in any order. For a single reply, the position in the list counts,
  // because servers number it differently.
  static ChatChoice* ReplyAt(const Json& choice, size_t place, ChatTurn& turn) {
    if (turn.wanted <= 1) return place == 0 ? &turn : nullptr;
    const int64_t index = GetInt(choice, "index", static_cast<int64_t>(place));
    if (index < 0 || index >= turn.wanted) return nullptr;
    if (index == 0) return &turn;
    if (turn.more.size() < static_cast<size_t>(index)) turn.more.resize(static_cast<size_t>(index));
    return &turn.more[static_cast<size_t>(index) - 1];
  }

  static void ReadChoice(const Json& choice, const char* part, ChatChoice& reply) {
    const Json& message = GetMember(choice, part);
    reply.text += ContentText(GetMember(message, "content"));
    std::string thinking = ContentText(GetMember(message, "reasoning_content"));
    if (thinking.empty()) thinking = ContentText(GetMember(message, "reasoning"));
    reply.thinking += thinking;
    reply.refusal += GetString(message, "refusal");
    // The only tool receives the reply. Its arguments are complete, or in pieces.
    const Json& calls = GetMember(message, "tool_calls");
    if (calls.is_array())
      for (const Json& call : calls) reply.text += GetString(GetMember(call, "function"), "arguments");
    const std::string reason = GetString(choice, "finish_reason");
    if (reason.empty()) return;
    reply.finish_reason = reason == "tool_calls" ? "stop" : reason;
    reply.declined = reason == "content_filter" || reason == "refusal" || !reply.refusal.empty();
    reply.ended = true;
  }
};

}  // namespace

std::unique_ptr<ChatApi> MakeOpenAiChat() {
  return std::make_unique<OpenAiChat>();
}

}  // namespace hone

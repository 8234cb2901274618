// Anthropic's messages API: named events, content in typed blocks, thinking in separate blocks, usage split
// between the first and the last event, and a required max_tokens.
#include "base/json.h"
#include "model/chat_api.h"

namespace hone {

namespace {

std::string FinishReason(const std::string& stop_reason) {
  if (stop_reason == "end_turn" || stop_reason == "stop_sequence" || stop_reason == "tool_use") return "stop";
  return stop_reason == "max_tokens" ? "length" : stop_reason;
}

class AnthropicMessages : public ChatApi {
 public:
  std::string_view endpoint() const override { return "/messages"; }
  bool gives_several() const override { return false; }

  std::vector<std::pair<std::string, std::string>> Headers(const std::string& key) const override {
    std::vector<std::pair<std::string, std::string>> headers = {{"anthropic-version", "2023-06-01"}};
    if (!key.empty()) headers.emplace_back("x-api-key", key);
    return headers;
  }

  Json Body(const ChatRequest& request, const ChatDialect& dialect,
            std::optional<double> temperature) const override {
    Json messages = Json::array();
    for (const ChatMessage& message : request.messages)
      messages.push_back({{"role", message.role}, {"content", message.text}});
    Json body = {{"model", request.model},
                 {"max_tokens", dialect.max_tokens > 0 ? dialect.max_tokens : kAnthropicMaxTokens},
                 {"messages", std::move(messages)}};
    // The marked part is billed once with a surcharge, and at a tenth for every call with the same beginning.
    if (!request.system.empty() && dialect.cache_control)
      body["system"] = Json::array(
          {{{"type", "text"}, {"text", request.system}, {"cache_control", {{"type", "ephemeral"}}}}});
    else if (!request.system.empty())
      body["system"] = request.system;
    if (dialect.stream) body["stream"] = true;
    if (temperature && dialect.temperature) body["temperature"] = *temperature;
    if (!request.effort.empty()) body["output_config"]["effort"] = request.effort;
    if (!request.schema.empty()) AskForData(request, dialect, body);
    return body;
  }

  bool ReadEvent(const SseEvent& event, ChatTurn& turn) const override {
    Result<Json> parsed = ParseServerJson(event.data);
    if (!parsed.ok() || !parsed->is_object()) return false;
    const std::string type = GetString(*parsed, "type", event.name);
    if (type == "message_start") {
      const Json& message = GetMember(*parsed, "message");
      turn.model = GetString(message, "model");
      ReadUsage(GetMember(message, "usage"), turn);
    } else if (type == "content_block_start") {
      ReadBlock(GetMember(*parsed, "content_block"), turn);
    } else if (type == "content_block_delta") {
      ReadBlock(GetMember(*parsed, "delta"), turn);
    } else if (type == "message_delta") {
      const std::string reason = GetString(GetMember(*parsed, "delta"), "stop_reason");
      if (!reason.empty()) Finish(reason, turn);
      ReadUsage(GetMember(*parsed, "usage"), turn);
    } else if (type == "message_stop") {
      turn.ended = turn.nothing_follows = true;
    } else if (type == "error") {
      turn.error = ErrorText(*parsed);
      if (turn.error.empty()) turn.error = "an error without a message";
    }
    return true;
  }

  bool ReadDocument(const Json& document, ChatTurn& turn) const override {
    if (!document.is_object()) return false;
    const Json& content = GetMember(document, "content");
    if (!content.is_array()) {
      turn.error = ErrorText(document);
      return !turn.error.empty();
    }
    for (const Json& block : content) ReadBlock(block, turn);
    turn.model = GetString(document, "model");
    Finish(GetString(document, "stop_reason"), turn);
    ReadUsage(GetMember(document, "usage"), turn);
    turn.ended = true;
    return true;
  }

 private:
  // Every model supports tools, newer ones also schemas. A forced tool call excludes thinking.
  static void AskForData(const ChatRequest& request, const ChatDialect& dialect, Json& body) {
    const Result<Json> schema = ParseJson(request.schema);
    if (!schema.ok() || !dialect.structured()) return;
    if (!dialect.tools) {
      body["output_config"]["format"] = {{"type", "json_schema"}, {"schema", *schema}};
      return;
    }
    const std::string& name = request.schema_name;
    body["tools"] =
        Json::array({{{"name", name}, {"description", "Takes the reply."}, {"input_schema", *schema}}});
    body["tool_choice"] = {{"type", "tool"}, {"name", name}};
  }

  // A block and a delta have their text in fields with the same names.
  static void ReadBlock(const Json& block, ChatTurn& turn) {
    turn.text += GetString(block, "text");
    turn.thinking += GetString(block, "thinking");
    // The only tool receives the reply. Its input is complete in a document. In a stream it is JSON in
    // pieces, after an empty one.
    turn.text += GetString(block, "partial_json");
    const Json& input = GetMember(block, "input");
    if (GetString(block, "type") == "tool_use" && input.is_object() && !input.empty())
      turn.text += DumpJson(input);
  }

  static void Finish(const std::string& stop_reason, ChatTurn& turn) {
    turn.finish_reason = FinishReason(stop_reason);
    turn.declined = stop_reason == "refusal";
  }

  static void ReadUsage(const Json& usage, ChatTurn& turn) {
    // input_tokens excludes tokens read from the cache or written to it.
    if (GetMember(usage, "input_tokens").is_number()) {
      turn.cached_tokens = GetInt(usage, "cache_read_input_tokens", turn.cached_tokens);
      turn.cache_write_tokens = GetInt(usage, "cache_creation_input_tokens", turn.cache_write_tokens);
      turn.prompt_tokens = GetInt(usage, "input_tokens") + turn.cache_write_tokens + turn.cached_tokens;
    }
    turn.completion_tokens = GetInt(usage, "output_tokens", turn.completion_tokens);
    // Part of output_tokens. Older servers do not say it.
    turn.reasoning_tokens =
        GetInt(GetMember(usage, "output_tokens_details"), "thinking_tokens", turn.reasoning_tokens);
  }
};

}  // namespace

std::unique_ptr<ChatApi> MakeAnthropicMessages() {
  return std::make_unique<AnthropicMessages>();
}

}  // namespace hone

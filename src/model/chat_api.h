// The differences between the two HTTP APIs for models: the address, the headers, the body and the form of
// the response, as one document or as a stream of events. It converts text to text; http_model.cpp sends and
// retries.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "model/sse.h"

namespace hone {

struct ChatMessage {
  std::string role;  // "user" or "assistant"
  std::string text;
};

struct ChatRequest {
  std::string model;
  std::string system;
  std::vector<ChatMessage> messages;
  std::string schema = {};       // JSON schema of the reply; empty if there is none
  std::string effort = {};       // reasoning effort, such as low or high; empty: the server's default
  std::string schema_name = {};  // letters, digits and underscores
  int replies = 1;               // number of replies to this request
};

// Sent if the user sets no limit, because Anthropic requires one.
inline constexpr int64_t kAnthropicMaxTokens = 32000;

// The fields that a server accepts, as far as known. Updated when it rejects a field.
struct ChatDialect {
  bool stream = true;
  bool stream_options = true;          // openai: ask for usage at the end of a stream
  bool max_completion_tokens = false;  // openai: the name for max_tokens that newer models require
  bool max_tokens_renamed = false;     // both names were tried
  bool temperature = true;
  bool cache_control = true;  // anthropic: mark the end of the part that all calls of a run share
  bool schema = true;         // pass a reply's schema directly: response_format, output_config
  bool tools = true;          // pass a reply's schema as the arguments of a forced tool
  bool several = true;        // openai: several replies to one request
  int64_t max_tokens = 0;     // 0: not sent if the API allows that

  bool structured() const { return schema || tools; }
};

// One reply, as far as it has arrived.
struct ChatChoice {
  std::string text;
  std::string thinking;
  std::string finish_reason;  // "stop" and "length" in both APIs, others as the server spells them; a call of
                              // the tool that was asked for is "stop"
  bool declined = false;      // the server reports that the model or a filter refused
  std::string refusal;        // the server's words, if there are any
  bool ended = false;         // the server reported the end
  bool looped = false;        // it repeats itself endlessly; see LoopWatch
};

// One response: its first reply, and more if several were requested.
struct ChatTurn : ChatChoice {
  int wanted = 1;                // number of requested replies; more are ignored
  std::vector<ChatChoice> more;  // in the server's order
  std::string model;
  int64_t prompt_tokens = -1;  // -1: not reported
  int64_t completion_tokens = -1;
  int64_t cached_tokens = 0;  // parts of the two above
  int64_t cache_write_tokens = 0;
  int64_t reasoning_tokens = 0;
  bool nothing_follows = false;  // the stream has ended; usage may follow the end of the replies
  std::string error;             // an error instead of, or in the middle of, a response

  // All replies that have begun, in order.
  std::vector<ChatChoice*> choices();
  std::vector<const ChatChoice*> choices() const;
};

class ChatApi {
 public:
  virtual ~ChatApi() = default;
  virtual std::string_view endpoint() const = 0;
  // Whether a request may ask for several replies.
  virtual bool gives_several() const = 0;
  virtual std::vector<std::pair<std::string, std::string>> Headers(const std::string& key) const = 0;
  virtual Json Body(const ChatRequest& request, const ChatDialect& dialect,
                    std::optional<double> temperature) const = 0;
  // Returns false if the text is not valid for this API.
  virtual bool ReadEvent(const SseEvent& event, ChatTurn& turn) const = 0;
  virtual bool ReadDocument(const Json& document, ChatTurn& turn) const = 0;
};

std::unique_ptr<ChatApi> MakeOpenAiChat();
std::unique_ptr<ChatApi> MakeAnthropicMessages();

// Parses JSON as servers send it. Replaces bytes that are not UTF-8, and halves of surrogate pairs, which
// JavaScript servers send if an emoji is split between two events.
Result<Json> ParseServerJson(std::string_view text);
// The text of a content field: a string, null, or a list of parts with "text".
std::string ContentText(const Json& content);
// "<type>: <message>" of an error object in any common form, or empty.
std::string ErrorText(const Json& document);
// Moves a leading <think>...</think> from the text to the thinking. Tolerates an opening tag that the
// server's template removed, and a missing end if the reply was cut off.
void SplitThinking(ChatChoice& reply);

}  // namespace hone

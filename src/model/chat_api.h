// What differs between the two HTTP APIs for models: the address, the headers, the body and the form of the
// answer, as one document or as a stream of events. Pure text to text; http_model.cpp sends and retries.
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
  std::string schema = {};       // JSON schema of the reply, or empty
  std::string effort = {};       // of reasoning: low, medium or high; empty: the server's own
  std::string schema_name = {};  // letters, digits and underscores
  int replies = 1;               // how many to this one request
};

// Sent if the user sets no limit, because Anthropic requires one.
inline constexpr int64_t kAnthropicMaxTokens = 32000;

// What a server has accepted so far. Changed and kept when it rejects a field.
struct ChatDialect {
  bool stream = true;
  bool stream_options = true;          // openai: ask for usage at the end of a stream
  bool max_completion_tokens = false;  // openai: the name for max_tokens that its own newer models want
  bool max_tokens_renamed = false;     // both names were tried
  bool temperature = true;
  bool cache_control = true;  // anthropic: mark the end of what all calls of a run begin with
  bool schema = true;         // a reply's schema as such: response_format, output_config
  bool tools = true;          // a reply's schema as the arguments of a tool that has to be called
  bool several = true;        // openai: several replies to one request
  int64_t max_tokens = 0;     // 0: not sent where the API allows that

  bool structured() const { return schema || tools; }
};

// One reply, as far as it has arrived.
struct ChatChoice {
  std::string text;
  std::string thinking;
  std::string finish_reason;  // "stop" and "length" in both APIs, others as the server spells them; a call of
                              // the tool that was asked for is "stop"
  bool declined = false;      // the server says that the model, or a filter, refused
  std::string refusal;        // in its words, where it has some
  bool ended = false;         // the server said that this was all
  bool looped = false;        // it repeats itself without end; see LoopWatch
};

// One answer: its first reply, and further ones where several were asked for.
struct ChatTurn : ChatChoice {
  int wanted = 1;                // replies; one that is beyond them is not read
  std::vector<ChatChoice> more;  // in the order of the server
  std::string model;
  int64_t prompt_tokens = -1;  // -1: not told
  int64_t completion_tokens = -1;
  int64_t cached_tokens = 0;  // parts of the two above
  int64_t cache_write_tokens = 0;
  int64_t reasoning_tokens = 0;
  bool nothing_follows = false;  // the stream is over; usage may come after the replies have ended
  std::string error;             // an error sent in place of, or in the middle of, an answer

  // All replies that have begun, the first one first.
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
  // False when the text is not what this API sends.
  virtual bool ReadEvent(const SseEvent& event, ChatTurn& turn) const = 0;
  virtual bool ReadDocument(const Json& document, ChatTurn& turn) const = 0;
};

std::unique_ptr<ChatApi> MakeOpenAiChat();
std::unique_ptr<ChatApi> MakeAnthropicMessages();

// Parses JSON as servers send it: bytes that are not UTF-8 are replaced, and so are halves of surrogate
// pairs, which servers written in JavaScript send when an emoji falls on the border of two events.
Result<Json> ParseServerJson(std::string_view text);
// The text of a content field: a string, null, or a list of parts with "text".
std::string ContentText(const Json& content);
// "<type>: <message>" of an error object in any of the spellings in use, or empty.
std::string ErrorText(const Json& document);
// Moves a leading <think>...</think> from the text to the thinking; an opening tag that the server's
// template swallowed is tolerated, and so is a missing end when the reply was cut off.
void SplitThinking(ChatChoice& reply);

}  // namespace hone

// Turns one exchange with a server into a decision: the usable replies, or whether and when to try again, and
// what to tell the user. It sends nothing.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "model/api_key.h"
#include "model/chat_api.h"
#include "model/chat_listener.h"
#include "model/http_client.h"
#include "model/model.h"
#include "model/url.h"

namespace hone {

struct Attempt {
  ChatTurn turn;
  ModelFailure failure = ModelFailure::kNone;
  std::string what;     // for notes: "HTTP 429"
  std::string message;  // a sentence
  bool retry = false;
  bool bad_reply = false;     // a response arrived but was not usable
  bool prompt_taken = false;  // the server had received the whole prompt when the connection broke
  bool ask_otherwise = false;
  bool final = false;     // the refused field must not be dropped silently
  bool refused = false;   // rate limit exceeded, or the server is too busy
  bool declined = false;  // the model refused
  bool looped = false;
  std::optional<double> retry_after;
  std::string words;      // the server's message if it refused
  int came = 0;           // number of replies, usable or not
  std::string dropped;    // which of several replies were not usable, and why
  int64_t estimate = -1;  // estimate of all generated tokens, if the server reports none; -1: not needed

  bool something_came() const;
};

// All replies of a response, usable or not: the prompt is billed once, and each reply as received.
int64_t EstimateReplies(const ChatTurn& turn);

// Fills an attempt. The caller owns `url`, `key` and `model`.
class AttemptReader {
 public:
  AttemptReader(const Url& url, const ApiKey& key, const std::string& model)
      : url_(url), key_(key), model_(model) {}

  // The connection failed or was closed by Hone.
  Attempt FromTrouble(Attempt attempt, const HttpAnswer& answer, const Deadline& deadline) const;
  // Handles any status but 2xx. The caller decides whether to ask in another way.
  Attempt FromStatus(Attempt attempt, const HttpAnswer& answer, const ChatRequest& asked,
                     const ChatDialect& dialect) const;
  // Handles a good status; the received data is in attempt.turn.
  Attempt FromListener(Attempt attempt, const ChatListener& listener) const;
  static Attempt Failed(Attempt attempt, ModelFailure failure, std::string what, std::string message);
  // Returns the text without the key.
  std::string Clean(std::string text) const;

 private:
  std::string Sentence(ModelFailure failure, const std::string& what, const std::string& words) const;
  std::string Quote(const std::string& words) const;

  const Url& url_;
  const ApiKey& key_;
  const std::string& model_;
};

}  // namespace hone

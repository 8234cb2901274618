// What one exchange with a server came to, as a decision: the replies of use, or whether to try again, when,
// and what to tell the user. Nothing here sends anything.
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
  bool bad_reply = false;     // an answer came and was not usable
  bool prompt_taken = false;  // the server had all of the prompt when the connection broke
  bool ask_otherwise = false;
  bool final = false;     // what was refused is not left out in silence
  bool refused = false;   // asked too often, or the server is too busy
  bool declined = false;  // the model will not
  bool looped = false;
  std::optional<double> retry_after;
  std::string words;      // of the server, where it refused
  int came = 0;           // replies, of use or not
  std::string dropped;    // which of several were not, and why
  int64_t estimate = -1;  // of all that was generated, where the server does not tell; -1: not needed

  bool something_came() const;
};

// All replies of an answer, of use or not: the prompt is billed once, and each reply as it came.
int64_t EstimateReplies(const ChatTurn& turn);

// Fills an attempt. `url`, `key` and `model` belong to the caller.
class AttemptReader {
 public:
  AttemptReader(const Url& url, const ApiKey& key, const std::string& model)
      : url_(url), key_(key), model_(model) {}

  // The connection failed, or was ended from here.
  Attempt FromTrouble(Attempt attempt, const HttpAnswer& answer, const Deadline& deadline) const;
  // Any status but 2xx. Whether to ask in another way is the caller's to say.
  Attempt FromStatus(Attempt attempt, const HttpAnswer& answer, const ChatRequest& asked,
                     const ChatDialect& dialect) const;
  // A good status; what came is in attempt.turn.
  Attempt FromListener(Attempt attempt, const ChatListener& listener) const;
  static Attempt Failed(Attempt attempt, ModelFailure failure, std::string what, std::string message);
  // Without the key.
  std::string Clean(std::string text) const;

 private:
  std::string Sentence(ModelFailure failure, const std::string& what, const std::string& words) const;
  std::string Quote(const std::string& words) const;

  const Url& url_;
  const ApiKey& key_;
  const std::string& model_;
};

}  // namespace hone

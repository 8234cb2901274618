// The interface between the pipeline and a source of replies: a language model over HTTP, a recording, or any
// program. A call returns a ModelReply. The reason of a failure is a value, because the pipeline's next step
// depends on it (stop the run, end this branch, continue).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/usage.h"

namespace hone {

// The types of requests. Recordings and the HTTP header X-Hone-Call-Type use these names. The last one is an
// agent's session, which is not a call of a model.
const std::vector<std::string>& CallTypes();

struct ModelRequest {
  std::string call_type;
  std::string system;
  std::string prompt;
  std::string key;                        // stable name of this call within the run
  Deadline deadline = Deadline::Never();  // for the whole call, including waits and retries
  // A JSON schema if the reply is data, else empty. Servers that support schemas enforce it. The reply is
  // JSON in `text`, or prose that contains JSON if the server does not support them.
  std::string schema = {};
  // A recording gives the reply that it has for `key`, or none (kNotOnRecord). Other models ignore this.
  bool only_as_recorded = false;
};

enum class ModelFailure {
  kNone,
  kWrongKey,        // the server rejects the key, or there is none
  kRefused,         // the server refuses: no such model, no credit, a redirect
  kContextTooLong,  // the prompt does not fit the model
  kTooLarge,        // the reply exceeds the limit
  kUnreachable,     // no response after all attempts
  kRefusedTls,      // the certificate is not trusted
  kBadReply,        // responses arrived, but none was usable
  kDeclined,        // the model, or a filter before it, refused this prompt
  kOutOfTime,       // the request's deadline passed
  kOutOfBudget,     // the caller may spend no more
  kCommandFailed,   // exec: the program ended with a failure or too late
  kExhausted,       // replay: no more recordings of this call type
  kNotOnRecord,     // a run replayed over its record or its recording: it never made this request
  kInterrupted,
};

// Converts to and from stable names for records ("wrong_key"). An unknown name becomes kBadReply.
std::string_view FailureName(ModelFailure failure);
ModelFailure FailureFromName(std::string_view name);
// True if the next call would fail for the same reason. Otherwise only this branch ends.
bool StopsTheRun(ModelFailure failure);

// One of several replies to one prompt.
struct ReplyChoice {
  std::string text;
  std::string thinking;
  std::string finish_reason;
};

struct ModelReply {
  ModelFailure failure = ModelFailure::kNone;
  std::string message;  // for a failure: what happened and what to do about it

  std::string text;
  std::string thinking;
  Usage usage;  // of all attempts together, including failed calls
  std::string finish_reason;
  std::vector<ReplyChoice> more;  // more replies to the same prompt, if several were requested
  std::string model;
  double seconds = 0;
  int attempts = 1;
  std::vector<std::string> notes;  // "HTTP 429, waited 2 s"

  bool ok() const { return failure == ModelFailure::kNone; }
  Error ToError() const;
};

// The maximum that one request can use. Below 0: unknown.
struct MostUse {
  int64_t tokens = -1;
  double usd = -1;
};

// Called from the thread that called Ask. All may be empty.
struct ModelProgress {
  std::function<void(int64_t completion_tokens)> tokens;  // of the whole call so far, estimated
  std::function<void(const std::string& note)> note;      // also recorded in notes
  // For models that ask before they spend. Called before each request to a server, it waits until the request
  // may be sent. If it may not, the returned failure has the reason, and the call ends with it. After kNone,
  // `spent` follows with the use of the request. Called from several threads if a call consists of several
  // requests.
  std::function<ModelFailure(const MostUse& most)> may_spend;
  std::function<void(const MostUse& most, const Usage& used)> spent;
};

class Model {
 public:
  virtual ~Model() = default;
  // Thread-safe. Ends soon after Ctrl-C.
  virtual ModelReply Ask(const ModelRequest& request, const ModelProgress& progress) = 0;
  virtual std::string name() const = 0;
  // Returns up to n replies to one prompt as one answer (replies.h); fewer if some are not usable. By default
  // it makes n requests with the keys KEY, KEY~2, KEY~3, in parallel unless the order matters. Then progress
  // is called from several threads, one at a time.
  virtual ModelReply AskForSeveral(const ModelRequest& request, int n, const ModelProgress& progress);
  // True if the reply depends on the order of calls. Such a model gets one call at a time.
  virtual bool order_matters() const { return false; }
  // True if progress.may_spend is called before every request. For other models a whole call is one request
  // of unknown use.
  virtual bool asks_before_it_spends() const { return false; }
  // On resume: this call was answered before the interruption and will not be repeated.
  virtual void MarkAnswered(const std::string& call_type, const std::string& key);

 protected:
  // Makes `count` requests, the first of which is for the reply with this number.
  std::vector<ModelReply> AskApart(const ModelRequest& request, int first_number, int count,
                                   const ModelProgress& progress);
};

}  // namespace hone

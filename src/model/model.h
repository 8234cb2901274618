// The interface between the pipeline and whatever answers prompts: a language model over HTTP, a recording,
// or any program. A call ends in a ModelReply. The reason of a failure is a value, because the next step of
// the pipeline depends on it (stop the run, end this branch, go on).
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

// What the pipeline asks for. Recordings and the HTTP header X-Hone-Call-Type use these names. The last one
// is the sitting of an agent, which is no call of a model.
const std::vector<std::string>& CallTypes();

struct ModelRequest {
  std::string call_type;
  std::string system;
  std::string prompt;
  std::string key;                        // stable name of this call within the run
  Deadline deadline = Deadline::Never();  // of the whole call, waits and retries included
  // A JSON schema where the reply is data, else empty. A server that can holds the model to it; the reply is
  // JSON in `text` either way, or prose with JSON in it where the server cannot.
  std::string schema = {};
};

enum class ModelFailure {
  kNone,
  kWrongKey,        // the server does not accept the key, or there is none
  kRefused,         // the server will not do this for us: no such model, no credit, a redirect
  kContextTooLong,  // the prompt does not fit the model
  kTooLarge,        // the reply is over the limit
  kUnreachable,     // no answer after all attempts
  kRefusedTls,      // the certificate is not trusted
  kBadReply,        // answers came, none of them usable
  kDeclined,        // the model, or a filter before it, refused this prompt
  kOutOfTime,       // the request's deadline passed
  kOutOfBudget,     // whoever asked may spend no more
  kCommandFailed,   // exec: the program ended with a failure or too late
  kExhausted,       // replay: no more recordings of this call type
  kNotOnRecord,     // a run that is walked again over its own record: it never came here
  kInterrupted,
};

// Stable names for records ("wrong_key"), and back; an unknown name is kBadReply.
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
  std::string message;  // on failure: what happened and what to do about it

  std::string text;
  std::string thinking;
  Usage usage;  // of all attempts together, failed calls included
  std::string finish_reason;
  std::vector<ReplyChoice> more;  // further replies to the same prompt, where several were asked for
  std::string model;
  double seconds = 0;
  int attempts = 1;
  std::vector<std::string> notes;  // "HTTP 429, waited 2 s"

  bool ok() const { return failure == ModelFailure::kNone; }
  Error ToError() const;
};

// What one request can use at the most. Below 0: nobody knows.
struct MostUse {
  int64_t tokens = -1;
  double usd = -1;
};

// Called from the thread that called Ask. All may be empty.
struct ModelProgress {
  std::function<void(int64_t completion_tokens)> tokens;  // so far, estimated, of the whole call
  std::function<void(const std::string& note)> note;      // what is also put in notes, as it happens
  // Before each request to a server, by models that ask before they spend: waits until it may be sent. If it
  // may not, the failure says why, and the call ends with it. After kNone `spent` follows with what the
  // request used. Called from several threads at once where a call is several requests.
  std::function<ModelFailure(const MostUse& most)> may_spend;
  std::function<void(const MostUse& most, const Usage& used)> spent;
};

class Model {
 public:
  virtual ~Model() = default;
  // Safe to call from several threads at once. Ends soon after Ctrl-C.
  virtual ModelReply Ask(const ModelRequest& request, const ModelProgress& progress) = 0;
  virtual std::string name() const = 0;
  // Up to n replies to one prompt as one answer (replies.h); fewer where some are of no use. By default n
  // requests, with the keys KEY, KEY~2, KEY~3, side by side unless the order matters; then progress is called
  // from several threads, one at a time.
  virtual ModelReply AskForSeveral(const ModelRequest& request, int n, const ModelProgress& progress);
  // True if the reply depends on the order of calls. Such a model gets one call at a time.
  virtual bool order_matters() const { return false; }
  // True if progress.may_spend is called before every request. Of other models a whole call is one request,
  // and nobody knows what it will use.
  virtual bool asks_before_it_spends() const { return false; }
  // On resume: this call was answered before the run was interrupted and will not be asked again.
  virtual void MarkAnswered(const std::string& call_type, const std::string& key);

 protected:
  // So many requests, the first of which is for the reply with this number.
  std::vector<ModelReply> AskApart(const ModelRequest& request, int first_number, int count,
                                   const ModelProgress& progress);
};

}  // namespace hone

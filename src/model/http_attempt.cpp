#include "model/http_attempt.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "model/retry.h"
#include "model/usage.h"

namespace hone {

namespace {

// The user requested the effort.
bool RefusesEffort(int status, const std::string& words, const ChatRequest& asked,
                   const ChatDialect& dialect) {
  if (asked.effort.empty() || (status != 400 && status != 422)) return false;
  const std::string low = ToLower(words);
  const bool schema_too = !asked.schema.empty() && !dialect.tools && dialect.schema;
  return Contains(low, "effort") || (Contains(low, "output_config") && !schema_too);
}

}  // namespace

bool Attempt::something_came() const {
  if (estimate > 0) return true;
  for (const ChatChoice* one : turn.choices())
    if (!one->text.empty() || !one->thinking.empty()) return true;
  return false;
}

int64_t EstimateReplies(const ChatTurn& turn) {
  int64_t tokens = 0;
  for (const ChatChoice* one : turn.choices())
    tokens += EstimateTokens(one->text) + EstimateTokens(one->thinking);
  return tokens;
}

Attempt AttemptReader::Failed(Attempt attempt, ModelFailure failure, std::string what, std::string message) {
  attempt.failure = failure;
  attempt.what = std::move(what);
  attempt.message = std::move(message);
  return attempt;
}

Attempt AttemptReader::FromTrouble(Attempt attempt, const HttpAnswer& answer,
                                   const Deadline& deadline) const {
  // Without a response it is unknown whether the server read the prompt. It counts as an estimate, because a
  // budget must cover all that a provider bills.
  attempt.prompt_taken = answer.request_sent && answer.trouble != HttpTrouble::kProtocol &&
                         (answer.status == 0 || answer.status / 100 == 2);
  switch (answer.trouble) {
    case HttpTrouble::kInterrupted:
      return Failed(std::move(attempt), ModelFailure::kInterrupted, "interrupted", "interrupted");
    case HttpTrouble::kTls:
      return Failed(std::move(attempt), ModelFailure::kRefusedTls, "certificate refused", answer.message);
    case HttpTrouble::kUsage:
      return Failed(std::move(attempt), ModelFailure::kRefused, "bad address", answer.message);
    default:
      break;
  }
  if (deadline.passed())
    return Failed(std::move(attempt), ModelFailure::kOutOfTime, "late",
                  "the time for this call is over; " + answer.message);
  attempt.retry = true;
  if (answer.trouble == HttpTrouble::kProtocol) {
    attempt.bad_reply = true;
    return Failed(std::move(attempt), ModelFailure::kBadReply, "not HTTP",
                  answer.message + "; is --api-base right?");
  }
  const char* what = answer.trouble == HttpTrouble::kTimeout ? "timeout"
                     : answer.trouble == HttpTrouble::kReset ? "connection lost"
                                                             : "no connection";
  return Failed(std::move(attempt), ModelFailure::kUnreachable, what,
                answer.message + "; check --api-base and the network, then resume the run");
}

Attempt AttemptReader::FromStatus(Attempt attempt, const HttpAnswer& answer, const ChatRequest& asked,
                                  const ChatDialect& dialect) const {
  Result<Json> document = ParseServerJson(answer.body);
  std::string words = document.ok() ? ErrorText(*document) : "";
  if (words.empty()) words = std::string(Trim(answer.body));
  const std::string what = fmt::format("HTTP {}", answer.status);
  attempt.final = RefusesEffort(answer.status, words, asked, dialect);
  if (attempt.final)
    return Failed(std::move(attempt), ModelFailure::kRefused, what,
                  fmt::format("{} from {}: {} (this model takes no --reasoning-effort {}; leave it out)",
                              what, url_.Authority(), Quote(words), asked.effort));
  attempt.refused = answer.status == 429 || answer.status == 503 || answer.status == 529;
  attempt.words = words;
  const ServerError error = ClassifyServerError(answer.status, words);
  attempt.retry = error.retry;
  if (const auto header = answer.headers.find("retry-after"); header != answer.headers.end())
    attempt.retry_after = RetryAfterSeconds(header->second, UnixSeconds());
  std::string message = Sentence(error.failure, what, words);
  if (const auto to = answer.headers.find("location"); answer.status / 100 == 3 && to != answer.headers.end())
    message = fmt::format("{} sends us on to {}; give that as --api-base if it is right", url_.Display(),
                          Quote(to->second));
  return Failed(std::move(attempt), error.failure, what, std::move(message));
}

Attempt AttemptReader::FromListener(Attempt attempt, const ChatListener& listener) const {
  using Verdict = ChatListener::Verdict;
  ChatTurn& turn = attempt.turn;
  const std::string where = url_.Display();
  if (listener.verdict() == Verdict::kTooLarge)
    return Failed(std::move(attempt), ModelFailure::kTooLarge, "reply too large",
                  fmt::format("the reply is over the limit of {}; lower --max-output-tokens",
                              HumanBytes(static_cast<double>(listener.limit()))));
  if (listener.verdict() == Verdict::kError) {
    const ServerError error = ClassifyServerError(200, turn.error);
    attempt.retry = error.retry;
    return Failed(std::move(attempt), error.failure, "error in the stream",
                  Sentence(error.failure, "an error in the stream", turn.error));
  }
  attempt.retry = true;
  if (listener.verdict() == Verdict::kLooping) {
    attempt.bad_reply = attempt.looped = true;
    return Failed(std::move(attempt), ModelFailure::kBadReply, "endless repetition",
                  "the model repeats the same lines without end; try another model, or --temperature");
  }
  if (listener.verdict() == Verdict::kGarbled) {
    attempt.bad_reply = true;
    return Failed(std::move(attempt), ModelFailure::kBadReply, "garbled reply",
                  where + " sends something that this API does not; is --api-base right, and --api-style?");
  }
  bool all_ended = true;
  for (ChatChoice* one : turn.choices()) {
    all_ended = all_ended && one->ended;
    if (one->ended) SplitThinking(*one);
  }
  attempt.came = static_cast<int>(turn.choices().size());
  if (turn.wanted > 1) {
    if (!all_ended || turn.completion_tokens < 0) attempt.estimate = EstimateReplies(turn);
    attempt.dropped = KeepRepliesOfUse(turn);
  }
  if (!turn.ended) {
    attempt.prompt_taken = true;
    return Failed(std::move(attempt), ModelFailure::kUnreachable, "connection lost",
                  where + " ended its reply in the middle");
  }
  if (turn.declined) {
    attempt.retry = false;
    attempt.declined = true;
    const std::string said = turn.refusal.empty() ? "finish_reason " + turn.finish_reason : turn.refusal;
    return Failed(std::move(attempt), ModelFailure::kDeclined, "declined",
                  "the model declined to answer (" + Quote(said) + "); try another model");
  }
  if (Trim(turn.text).empty() && turn.finish_reason != "length") {
    attempt.bad_reply = true;
    const std::string reason =
        turn.finish_reason.empty() ? "" : " (finish_reason " + turn.finish_reason + ")";
    return Failed(std::move(attempt), ModelFailure::kBadReply, "empty reply",
                  "the model returned an empty reply" + Quote(reason));
  }
  attempt.retry = false;
  return attempt;
}

std::string AttemptReader::Sentence(ModelFailure failure, const std::string& what,
                                    const std::string& words) const {
  const std::string said = fmt::format("{} from {}: {}", what, url_.Authority(), Quote(words));
  switch (failure) {
    case ModelFailure::kWrongKey:
      if (key_.value.empty())
        return said + " (no key was sent; set HONE_API_KEY or give --api-key-env or --api-key-file)";
      return said + " (the key came from " + key_.source + ")";
    case ModelFailure::kContextTooLong:
      return said + " (the prompt does not fit; use a model with a longer context)";
    case ModelFailure::kRefused:
      return fmt::format("{} (asked for model '{}' at {})", said, model_, url_.Display());
    default:
      return said;
  }
}

// A server's message, shortened, printable and without the key.
std::string AttemptReader::Quote(const std::string& words) const {
  constexpr size_t kMax = 400;
  std::string text = SafeForTerminal(Clean(words));
  if (text.size() > kMax) text = ValidUtf8(text.substr(0, kMax)) + "...";
  return text.empty() ? "nothing" : text;
}

std::string AttemptReader::Clean(std::string text) const {
  return WithoutKey(std::move(text), key_.value);
}

}  // namespace hone

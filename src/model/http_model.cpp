#include "model/http_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>

#include "base/interrupt.h"
#include "base/text.h"
#include "model/api_key.h"
#include "model/chat_listener.h"
#include "model/http_attempt.h"
#include "model/rate_limiter.h"
#include "model/replies.h"
#include "model/reply_check.h"
#include "model/usage.h"

namespace hone {

namespace {

constexpr const char* kGoOn =
    "Your reply was cut off by the length limit. Go on exactly where it stopped, with the very next "
    "character. "
    "Repeat nothing, add no introduction, and do not open a code block that is already open.";
constexpr const char* kBeBrief =
    "\n\nAn earlier reply to this was cut off because it was too long. Answer as briefly as you can: no "
    "explanations, only what is asked for, complete.";
// If a server was never reached, its address is more likely wrong than the server busy.
constexpr int kAttemptsForAStranger = 3;
// The shortest wait for rate limits that is reported.
constexpr double kNotableWait_s = 2;
// Tokens that a server adds to a prompt: its template, and its own text if tools are offered.
constexpr int64_t kTokensAround = 1000;
// More than there are optional fields, so that no server causes endless requests.
constexpr int kMaxOtherWays = 8;

class HttpModel : public Model {
 public:
  HttpModel(HttpModelOptions options, std::unique_ptr<ChatApi> api, Url url, ApiKey key)
      : options_(std::move(options)), api_(std::move(api)), url_(std::move(url)), key_(std::move(key)) {
    dialect_.max_tokens = options_.max_output_tokens;
    dialect_.max_completion_tokens = url_.host == "api.openai.com";
    dialect_.several = api_->gives_several();
  }

  std::string name() const override { return options_.model; }
  bool asks_before_it_spends() const override { return true; }
  ModelReply Ask(const ModelRequest& request, const ModelProgress& progress) override;
  ModelReply AskForSeveral(const ModelRequest& request, int n, const ModelProgress& progress) override;

 private:
  friend class Conversation;
  ChatDialect dialect() const {
    std::lock_guard lock(mutex_);
    return dialect_;
  }
  bool Adapt(int status, const std::string& words, const ChatRequest& asked, ChatDialect& used) {
    if (!AdaptDialect(status, words, !asked.schema.empty(), used, asked.replies > 1)) return false;
    std::lock_guard lock(mutex_);
    dialect_ = used;
    return true;
  }

  const HttpModelOptions options_;
  const std::unique_ptr<ChatApi> api_;
  const Url url_;
  const ApiKey key_;
  mutable std::mutex mutex_;
  ChatDialect dialect_;
  std::atomic<bool> ever_answered_{false};
  std::atomic<bool> leaves_out_effort_{false};
  RateLimiter limiter_;
};

// The period between may_spend and the result of the request.
class Spending {
 public:
  Spending(const ModelProgress& progress, const MostUse& most) : progress_(progress), most_(most) {}
  Spending(const Spending&) = delete;
  Spending& operator=(const Spending&) = delete;
  ~Spending() { Settle({}); }

  // Waits. Returns a failure if the request may not be sent.
  ModelFailure Begin() {
    const ModelFailure failure = progress_.may_spend ? progress_.may_spend(most_) : ModelFailure::kNone;
    begun_ = failure == ModelFailure::kNone;
    return failure;
  }
  void Settle(const Usage& used) {
    if (begun_ && progress_.spent) progress_.spent(most_, used);
    begun_ = false;
  }

 private:
  const ModelProgress& progress_;
  const MostUse most_;
  bool begun_ = false;
};

// One call of Ask: the messages so far, and the reply as it grows over attempts and continuations.
class Conversation {
 public:
  Conversation(HttpModel& model, const ModelRequest& request, const ModelProgress& progress, int replies)
      : model_(model),
        request_(request),
        progress_(progress),
        reader_(model.url_, model.key_, model.options_.model) {
    chat_.replies = replies;
    reply_.attempts = 0;
    reply_.usage.price_known = true;
    reply_.model = model.options_.model;
  }

  ModelReply Run() {
    Stopwatch watch;
    Converse();
    if (reply_.usage.total() == 0)
      reply_.usage.price_known = model_.options_.prices.Find(reply_.model).has_value();
    reply_.text = ReplyWithoutKey(std::move(reply_.text), model_.key_.value);
    reply_.thinking = ReplyWithoutKey(std::move(reply_.thinking), model_.key_.value);
    for (ReplyChoice& one : reply_.more) {
      one.text = ReplyWithoutKey(std::move(one.text), model_.key_.value);
      one.thinking = ReplyWithoutKey(std::move(one.thinking), model_.key_.value);
    }
    reply_.message = reader_.Clean(std::move(reply_.message));
    reply_.seconds = watch.seconds();
    return std::move(reply_);
  }
  // Number of replies that the server sent, usable or not.
  int came() const { return came_; }

 private:
  void Converse() {
    chat_.model = model_.options_.model;
    chat_.system = request_.system;
    chat_.messages = {{"user", request_.prompt}};
    if (!model_.leaves_out_effort_) chat_.effort = model_.options_.reasoning_effort;
    chat_.schema = request_.schema;
    chat_.schema_name = request_.call_type;
    if (!Exchange()) return;
    chat_.replies = 1;  // only the first reply can be continued
    // An incomplete object cannot be continued, so a reply with a schema starts again.
    const int most = request_.schema.empty() ? model_.options_.max_continuations : 0;
    for (int i = 0; i < most && reply_.finish_reason == "length"; ++i) {
      if (Trim(reply_.text).empty()) break;
      Note("the reply was cut off by length; asked to go on");
      chat_.messages = {{"user", request_.prompt}, {"assistant", reply_.text}, {"user", kGoOn}};
      const std::string before = reply_.text;
      if (!Exchange()) return;
      reply_.text = JoinContinuation(before, reply_.text);
    }
    if (reply_.finish_reason != "length") return;
    Note("the reply was cut off by length; asked again for a shorter one");
    chat_.messages = {{"user", request_.prompt + kBeBrief}};
    const std::string before = reply_.text;
    if (!Exchange()) return;
    if (reply_.finish_reason == "length") Note("the shorter reply was cut off as well");
    if (Trim(reply_.text).empty()) reply_.text = before;
    if (Trim(reply_.text).empty())
      Fail(ModelFailure::kBadReply,
           "the model used up its output on thinking and said nothing; allow it more with "
           "--max-output-tokens");
  }

  // One request with all its attempts. Returns false and sets the reply's failure if none succeeds.
  bool Exchange() {
    int attempts = 0;
    int bad_replies = 0;
    int other_ways = 0;
    ChatDialect dialect = model_.dialect();
    while (true) {
      const Json body = Body(dialect);
      Spending spending(progress_, MostOf(body));
      if (!MaySpend(spending)) return false;
      RateLimiter::Ticket ticket;
      if (!WaitForTurn(&ticket)) return false;
      ++reply_.attempts;
      Attempt attempt = Try(body, dialect, std::move(ticket));
      const bool answered = attempt.failure == ModelFailure::kNone;
      // Text streamed before a failure was generated and is billed, and so is a prompt whose reply was lost.
      if (answered || attempt.prompt_taken || attempt.declined || attempt.something_came())
        spending.Settle(Account(attempt));
      else
        spending.Settle({});
      if (answered) {
        reply_.text = std::move(attempt.turn.text);
        reply_.thinking += attempt.turn.thinking;
        reply_.finish_reason = attempt.turn.finish_reason;
        for (ChatChoice& one : attempt.turn.more)
          reply_.more.push_back({std::move(one.text), std::move(one.thinking), one.finish_reason});
        if (!attempt.turn.model.empty()) reply_.model = reader_.Clean(attempt.turn.model);
        return true;
      }
      if (attempt.ask_otherwise && ++other_ways <= kMaxOtherWays) {
        Note(attempt.what + ", asked in another way");
        continue;
      }
      if (attempt.declined && !explained_) {
        explained_ = true;
        chat_.messages.back().text += std::string("\n\n") + kWhatThisIs;
        Note("the model declined; asked again with a word on what this is");
        continue;
      }
      if (attempt.looped && !warned_) {
        warned_ = true;
        chat_.messages.back().text += kDoNotRepeat;
      }
      ++attempts;
      bad_replies += attempt.bad_reply ? 1 : 0;
      const RetryPolicy& policy = model_.options_.retry;
      const int allowed =
          model_.ever_answered_ ? policy.max_attempts : std::min(policy.max_attempts, kAttemptsForAStranger);
      if (!attempt.retry || attempts >= allowed || bad_replies >= policy.max_bad_replies) {
        if (attempts > 1) attempt.message += fmt::format(" ({} attempts)", attempts);
        return Fail(attempt.failure, std::move(attempt.message));
      }
      const double wait = WaitSeconds(policy, attempts, attempt.retry_after);
      if (wait >= request_.deadline.seconds_left())
        return Fail(ModelFailure::kOutOfTime, "the time for this call is over; last: " + attempt.message);
      Note(fmt::format("{}, waiting {:.3g} s", attempt.what, wait));
      // A server's response to one thread applies to all.
      if (attempt.refused) model_.limiter_.Refused(wait);
      if (!SleepUnlessInterrupted(wait)) return Fail(ModelFailure::kInterrupted, "interrupted");
    }
  }

  Json Body(const ChatDialect& dialect) const {
    Json body = model_.api_->Body(chat_, dialect, model_.options_.temperature);
    if (model_.options_.extra.is_object()) body.update(model_.options_.extra);
    return body;
  }

  // A token has at least one byte of text. A server may generate as much as the request allows, for each
  // reply; without a limit the maximum is unknown.
  MostUse MostOf(const Json& body) const {
    int64_t completion = 0;
    for (const char* field : {"max_tokens", "max_completion_tokens"})
      completion = std::max(completion, GetInt(body, field));
    if (completion <= 0) return {};
    completion *= std::max<int64_t>(GetInt(body, "n", 1), 1);
    const int64_t prompt = static_cast<int64_t>(DumpJson(body).size()) + kTokensAround;
    return {prompt + completion,
            model_.options_.prices.MostUsd(model_.options_.model, prompt, completion).value_or(-1)};
  }

  bool MaySpend(Spending& spending) {
    const ModelFailure failure = spending.Begin();
    if (failure == ModelFailure::kNone) return true;
    return Fail(failure, failure == ModelFailure::kOutOfTime     ? "the time for this call is over"
                         : failure == ModelFailure::kOutOfBudget ? "the budget is spent"
                                                                 : "interrupted");
  }

  // Waits until the server's limits allow one more request. Returns false and sets the reply's failure
  // otherwise.
  bool WaitForTurn(RateLimiter::Ticket* ticket) {
    const int64_t tokens = EstimateTokens(chat_.system) + EstimateTokens(chat_.messages.back().text);
    bool told = false;
    while (true) {
      RateLimiter::Answer turn = model_.limiter_.Take(tokens);
      if (turn.wait_s == 0) {
        *ticket = std::move(turn.ticket);
        return true;
      }
      if (Interrupted()) return Fail(ModelFailure::kInterrupted, "interrupted");
      if (turn.wait_s >= request_.deadline.seconds_left())
        return Fail(ModelFailure::kOutOfTime,
                    "the time for this call is over; the server's rate limit was reached");
      if (turn.wait_s >= kNotableWait_s && !told)
        Note(fmt::format("waiting {:.3g} s for the server's rate limit", turn.wait_s));
      told = told || turn.wait_s >= kNotableWait_s;
      // Waits in short intervals, because another thread's response may change the time.
      if (!SleepUnlessInterrupted(std::min(turn.wait_s, 0.25)))
        return Fail(ModelFailure::kInterrupted, "interrupted");
    }
  }

  Attempt Try(const Json& body, ChatDialect& dialect, RateLimiter::Ticket ticket) {
    Attempt attempt;
    if (Interrupted())
      return AttemptReader::Failed(std::move(attempt), ModelFailure::kInterrupted, "interrupted",
                                   "interrupted");
    if (request_.deadline.passed())
      return AttemptReader::Failed(std::move(attempt), ModelFailure::kOutOfTime, "late",
                                   "the time for this call is over");
    HttpPost post{model_.url_, model_.api_->Headers(model_.key_.value), DumpJson(body)};
    post.headers.emplace_back("Content-Type", "application/json");
    post.headers.emplace_back("Accept", "text/event-stream, application/json");
    post.headers.emplace_back("X-Hone-Call-Type", request_.call_type);
    if (!request_.key.empty()) post.headers.emplace_back("X-Hone-Call-Key", request_.key);
    HttpLimits limits = model_.options_.limits;
    limits.total_seconds = std::min(limits.total_seconds, request_.deadline.seconds_left());

    attempt.turn.wanted = chat_.replies;
    ChatListener listener(
        *model_.api_, model_.options_.max_reply_bytes, [this](std::string_view piece) { Heard(piece); },
        attempt.turn);
    const HttpAnswer answer = Post(post, limits, [&](const HttpAnswer& head, std::string_view piece) {
      ticket.Answered(head.status, head.headers);
      return listener.Hear(head, piece);
    });
    if (answer.status != 0) ticket.Answered(answer.status, answer.headers);
    if (answer.status != 0) model_.ever_answered_ = true;
    const bool broke_off =
        answer.trouble != HttpTrouble::kNone && listener.verdict() == ChatListener::Verdict::kGood;
    if (broke_off && !IsWhole(attempt.turn, answer.trouble))
      return reader_.FromTrouble(std::move(attempt), answer, request_.deadline);
    if (answer.status / 100 != 2) {
      attempt = reader_.FromStatus(std::move(attempt), answer, chat_, dialect);
      if (attempt.final && model_.options_.effort_may_be_left_out) {
        attempt.what = fmt::format("{} takes no --reasoning-effort {}, which is left out from now on",
                                   model_.options_.model, chat_.effort);
        chat_.effort.clear();
        model_.leaves_out_effort_ = true;
        attempt.ask_otherwise = true;
        return attempt;
      }
      attempt.ask_otherwise = !attempt.final && model_.Adapt(answer.status, attempt.words, chat_, dialect);
      return attempt;
    }
    listener.Finish();
    attempt = reader_.FromListener(std::move(attempt), listener);
    if (chat_.replies > 1 && attempt.came > 0) came_ = attempt.came;
    if (!attempt.dropped.empty() && IsOfUse(attempt.turn))
      Note(fmt::format("of {} replies not used: {}", attempt.came, attempt.dropped));
    return attempt;
  }

  // A reply that has reached its end is complete, however the connection ended. Of several replies, complete
  // ones are used. After Ctrl-C all or none are, because a resumed run must end in the same way.
  static bool IsWhole(const ChatTurn& turn, HttpTrouble trouble) {
    const std::vector<const ChatChoice*> replies = turn.choices();
    const auto ended =
        std::count_if(replies.begin(), replies.end(), [](const ChatChoice* one) { return one->ended; });
    return trouble == HttpTrouble::kInterrupted ? ended >= turn.wanted : ended > 0;
  }

  Usage Account(const Attempt& attempt) {
    const ChatTurn& turn = attempt.turn;
    Usage usage;
    usage.prompt_tokens = turn.prompt_tokens;
    usage.completion_tokens = turn.completion_tokens;
    usage.cached_tokens = turn.cached_tokens;
    usage.cache_write_tokens = turn.cache_write_tokens;
    usage.reasoning_tokens = turn.reasoning_tokens;
    if (turn.prompt_tokens < 0) {
      usage.prompt_tokens = EstimateTokens(chat_.system);
      for (const ChatMessage& message : chat_.messages)
        usage.prompt_tokens += EstimateTokens(message.text) + 4;
      usage.estimated = true;
    }
    if (attempt.estimate >= 0 || turn.completion_tokens < 0 || !turn.ended) {
      usage.completion_tokens = attempt.estimate >= 0 ? attempt.estimate : EstimateReplies(turn);
      usage.estimated = true;
    }
    model_.options_.prices.Charge(model_.options_.model, usage);
    reply_.usage = reply_.usage + usage;
    heard_ = {};
    return usage;
  }

  void Heard(std::string_view piece) {
    if (piece.empty()) return;
    heard_.Add(piece);
    if (progress_.tokens) progress_.tokens(reply_.usage.completion_tokens + heard_.count());
  }

  void Note(std::string note) {
    note = reader_.Clean(std::move(note));
    if (progress_.note) progress_.note(note);
    reply_.notes.push_back(std::move(note));
  }

  bool Fail(ModelFailure failure, std::string message) {
    reply_.failure = failure;
    reply_.message = std::move(message);
    return false;
  }

  HttpModel& model_;
  const ModelRequest& request_;
  const ModelProgress& progress_;
  const AttemptReader reader_;
  ChatRequest chat_;
  TokenCounter heard_;
  ModelReply reply_;
  int came_ = 0;
  bool explained_ = false;  // the task was explained to a model that declined
  bool warned_ = false;     // a model that repeated itself was warned
};

ModelReply HttpModel::Ask(const ModelRequest& request, const ModelProgress& progress) {
  return Conversation(*this, request, progress, 1).Run();
}

// Uses one request if the server supports that. A server may refuse, or silently return fewer: missing
// replies are requested one by one, and a server that returned a single reply is not asked for several again.
ModelReply HttpModel::AskForSeveral(const ModelRequest& request, int n, const ModelProgress& progress) {
  if (n <= 1) return Ask(request, progress);
  if (!dialect().several) return Model::AskForSeveral(request, n, progress);
  const Stopwatch watch;
  Conversation together(*this, request, progress, n);
  std::vector<ModelReply> replies = {together.Run()};
  const int missing = n - together.came();
  if (!replies[0].ok() || missing <= 0) return std::move(replies[0]);
  if (together.came() == 1) {
    const std::lock_guard lock(mutex_);
    dialect_.several = false;
  }
  const std::string note = fmt::format(
      "{} of {} replies came in one request, the others are asked for one by one", together.came(), n);
  if (progress.note) progress.note(note);
  replies[0].notes.push_back(note);
  ModelProgress others = progress;
  const int64_t so_far = replies[0].usage.completion_tokens;
  if (progress.tokens) others.tokens = [&](int64_t tokens) { progress.tokens(so_far + tokens); };
  for (ModelReply& one : AskApart(request, together.came() + 1, missing, others))
    replies.push_back(std::move(one));
  ModelReply merged = MergeReplies(std::move(replies));
  merged.seconds = watch.seconds();
  return merged;
}

std::string DefaultBase(const std::string& model, ApiStyle style) {
  const char* usual = std::getenv("OPENAI_BASE_URL");
  if (style == ApiStyle::kAnthropic || (style == ApiStyle::kAuto && StartsWith(model, "claude")))
    return "https://api.anthropic.com";
  if (usual != nullptr && *usual != '\0') return usual;
  if (StartsWith(model, "deepseek-")) return "https://api.deepseek.com";
  if (StartsWith(model, "gemini-")) return "https://generativelanguage.googleapis.com/v1beta/openai";
  return "https://api.openai.com";
}

}  // namespace

Result<ApiStyle> ApiStyleFromName(const std::string& name) {
  if (name.empty() || name == "auto") return ApiStyle::kAuto;
  if (name == "openai") return ApiStyle::kOpenAi;
  if (name == "anthropic") return ApiStyle::kAnthropic;
  return Error{ErrorKind::kUsage,
               fmt::format("'{}' is no API style; there are auto, openai and anthropic", name)};
}

Result<std::string> ServerOf(const HttpModelOptions& options) {
  HONE_ASSIGN_OR_RETURN(
      const Url url,
      ParseUrl(options.api_base.empty() ? DefaultBase(options.model, options.style) : options.api_base));
  return url.Authority();
}

Result<std::unique_ptr<Model>> MakeHttpModel(HttpModelOptions options) {
  if (options.model.empty())
    return Error{ErrorKind::kUsage,
                 "no model was named; give one with --model, for example --model gpt-5.4-mini"};
  if (options.api_base.empty()) options.api_base = DefaultBase(options.model, options.style);
  if (options.extra.is_object() && options.extra.contains("n"))
    return Error{ErrorKind::kUsage, "ask for several replies with --replies, not with n in --request-extra"};
  HONE_ASSIGN_OR_RETURN(const Url base, ParseUrl(options.api_base));
  // A gateway may serve Claude models with either API. If its address does not tell, the name does.
  bool anthropic = options.style == ApiStyle::kAnthropic;
  if (options.style == ApiStyle::kAuto)
    anthropic = base.host == "api.anthropic.com" || EndsWith(base.path, "/messages") ||
                (StartsWith(options.model, "claude") && !EndsWith(base.path, "/chat/completions"));
  std::unique_ptr<ChatApi> api = anthropic ? MakeAnthropicMessages() : MakeOpenAiChat();
  HONE_ASSIGN_OR_RETURN(Url url, EndpointUrl(options.api_base, api->endpoint()));
  HONE_ASSIGN_OR_RETURN(ApiKey key, FindApiKey(url, anthropic, options.key_variable, options.key_file));
  return std::unique_ptr<Model>(
      std::make_unique<HttpModel>(std::move(options), std::move(api), std::move(url), std::move(key)));
}

std::string JoinContinuation(const std::string& before, const std::string& after) {
  bool fence_open = false;
  for (const std::string& line : Lines(before)) fence_open ^= StartsWith(Trim(line), "```");
  std::string rest = after;
  const size_t start = rest.find_first_not_of(" \t\r\n");
  if (fence_open && start != std::string::npos && rest.compare(start, 3, "```") == 0) {
    // "```python" opens a block; a bare "```" closes an open one and stays.
    const size_t end = rest.find('\n', start);
    const bool opens = end != std::string::npos && !Trim(rest.substr(start + 3, end - start - 3)).empty();
    if (opens) rest.erase(0, end + 1);
  }
  constexpr size_t kShortest = 12;
  for (size_t length = std::min({before.size(), rest.size(), size_t{2000}}); length >= kShortest; --length) {
    if (before.compare(before.size() - length, length, rest, 0, length) == 0)
      return before + rest.substr(length);
  }
  return before + rest;
}

}  // namespace hone

// Requests a file from a model: the call with its budget, the replies, the candidates in them, and their
// verdicts. All of it is stored by key.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "base/interrupt.h"
#include "base/text.h"
#include "model/replies.h"
#include "model/reply_check.h"
#include "pipeline/spine.h"

namespace hone {

namespace {

// Several replies are worth their price if many approaches are possible. A repair has few right answers.
int RepliesTo(const std::string& call_type, const RunOptions& options) {
  static constexpr const char* kOpenQuestions[] = {"seed", "algorithm", "improve", "combine", "restart"};
  const bool open = std::any_of(std::begin(kOpenQuestions), std::end(kOpenQuestions),
                                [&](const char* one) { return call_type == one; });
  return open ? std::max(1, options.replies) : 1;
}

// Orders two replies to one prompt: right ones by speed, then those that the task could not judge, then
// failed ones by how close they seem to working. Of equals the first stays.
bool GoesOnBefore(const CandidateRecord& one, const CandidateRecord& other) {
  if (IsRight(one) != IsRight(other)) return IsRight(one);
  if (IsRight(one)) return one.vs_best > other.vs_best;
  if (one.unknown() != other.unknown()) return one.unknown();
  return Closeness(one) > Closeness(other);
}

}  // namespace

// The use of a model that does not ask before it spends is unknown. Its call counts as one request, which
// waits until no other runs.
ModelReply Spine::AskWithin(const ModelRequest& request, int replies, ModelProgress progress) {
  // Spending is recorded only if the call ends by itself, so a call that has begun continues even if the run
  // is about to stop.
  std::atomic<bool> begun = false;
  const auto enter = [&](const MostUse& most) {
    const SpendGate::Answer answer = spend_gate_.Enter(request.key, most, [&] {
      return Interrupted() || request.deadline.passed() || (!begun && !MayGoOn().ok());
    });
    begun = begun || answer == SpendGate::Answer::kGo;
    if (answer == SpendGate::Answer::kGo) return ModelFailure::kNone;
    if (answer == SpendGate::Answer::kSpent) return ModelFailure::kOutOfBudget;
    return Interrupted() || !request.deadline.passed() ? ModelFailure::kInterrupted
                                                       : ModelFailure::kOutOfTime;
  };
  const auto leave = [&](const MostUse& most, const Usage& used) {
    spend_gate_.Leave(request.key, most, used);
  };
  const auto ask = [&] {
    return replies > 1 ? model_->AskForSeveral(request, replies, progress) : model_->Ask(request, progress);
  };
  if (!spend_gate_.keeps_any()) return ask();
  if (model_->asks_before_it_spends()) {
    progress.may_spend = enter;
    progress.spent = leave;
    return ask();
  }
  ModelReply reply;
  reply.failure = enter({});
  if (!reply.ok()) return reply;
  reply = ask();
  leave({}, reply.usage);
  return reply;
}

// Reserved before the call, so that parallel calls never make one too many.
Status Spine::ReserveCall() {
  const int most = options_.budget.calls;
  int made = calls_.load();
  do {
    if (most > 0 && made >= most)
      return StopAsking(fmt::format("the budget of {} call{} is spent", most, most == 1 ? "" : "s"));
  } while (!calls_.compare_exchange_weak(made, made + 1));
  return Ok();
}

Result<ModelReply> Spine::Ask(const std::string& key, const PromptInputs& inputs, int replies) {
  HONE_ASSIGN_OR_RETURN(const std::optional<CallRecord> kept,
                        recorder_.store().Call(recorder_.run().id, key));
  if (kept && kept->status == "answered") {
    ModelReply reply;
    reply.text = kept->reply;
    reply.finish_reason = kept->finish_reason;
    reply.more = RepliesFrom(kept->more_replies);
    for (size_t i = 0; i <= reply.more.size(); ++i)
      model_->MarkAnswered(inputs.call_type, ReplyKey(key, static_cast<int>(i + 1)));
    return reply;
  }
  HONE_RETURN_IF_ERROR(MayGoOn());
  if (const std::string spent = spend_gate_.WhySpent(); !spent.empty()) return StopAsking(spent).error();
  HONE_ASSIGN_OR_RETURN(const Prompt prompt, RenderPrompt(inputs));
  HONE_RETURN_IF_ERROR(ReserveCall());
  ModelRequest request;
  request.call_type = inputs.call_type;
  request.system = prompt.system;
  request.prompt = prompt.user;
  request.schema = prompt.schema;
  request.key = key;
  request.deadline = deadline_;
  request.only_as_recorded = !options_.follow.empty() && StepOf(key) > 0;
  recorder_.Doing(key, "asking " + model_->name());
  ModelProgress progress;
  progress.tokens = [&](int64_t tokens) { recorder_.Tokens(key, tokens); };
  progress.note = [&](const std::string& note) { recorder_.Say(fmt::format("{}: {}", key, note)); };
  const ModelReply reply = AskWithin(request, replies, progress);
  recorder_.Doing(key, "");
  // It was refused before the first request, so there was no call.
  const bool never_begun = reply.failure == ModelFailure::kOutOfBudget && reply.usage.total() == 0;
  if (reply.failure == ModelFailure::kNotOnRecord || reply.failure == ModelFailure::kInterrupted ||
      never_begun)
    --calls_;
  if (never_begun) return StopAsking(spend_gate_.WhySpent()).error();
  if (reply.failure == ModelFailure::kNotOnRecord) return Error{ErrorKind::kNotFound, reply.message};
  CallRecord call;
  call.run_id = recorder_.run().id;
  call.key = key;
  call.created = UtcTimestamp();
  call.call_type = inputs.call_type;
  call.status = reply.ok() ? "answered" : std::string(FailureName(reply.failure));
  call.model = reply.model.empty() ? model_->name() : reply.model;
  call.system = prompt.system;
  call.prompt = prompt.user;
  call.reply = reply.text;
  // In one row, so that a killed run has either all replies of a call or none.
  call.more_replies = RepliesText(reply.more);
  call.thinking = reply.thinking;
  call.finish_reason = reply.finish_reason;
  call.error = reply.message;
  // What an earlier session paid for this request without an answer still counts.
  static_cast<Usage&>(call) = kept && kept->total() > 0 ? *kept + reply.usage : reply.usage;
  call.seconds = reply.seconds;
  call.attempts = reply.attempts;
  // A call interrupted by Ctrl-C has no answer, so nothing of it is stored.
  if (reply.failure != ModelFailure::kInterrupted) HONE_RETURN_IF_ERROR(recorder_.Keep(call));
  if (reply.ok()) return reply;
  if (reply.failure == ModelFailure::kInterrupted) return StopRun("stopped", InterruptedWords()).error();
  if (reply.failure == ModelFailure::kOutOfTime) return StopOutOfTime();
  if (reply.failure == ModelFailure::kOutOfBudget) return StopAsking(spend_gate_.WhySpent()).error();
  if (StopsTheRun(reply.failure)) return StopRun("failed", reply.message).error();
  HONE_RETURN_IF_ERROR(
      recorder_.Decide("call:" + key, inputs.call_type, fmt::format("{}: {}", key, reply.message)));
  return reply;
}

// Makes a request, extracts the file from the reply, and asks once more if there is none. No value if the
// model could not answer; a candidate without a file counts as failed. If several replies contain files, each
// is a candidate. If none does, the first is handled like a single reply.
Result<std::vector<CandidateRecord>> Spine::Propose(const std::string& key, const std::string& parent,
                                                    const PromptInputs& inputs,
                                                    const std::string& other_parent) {
  HONE_ASSIGN_OR_RETURN(const std::optional<CandidateRecord> kept,
                        recorder_.store().Candidate(recorder_.run().id, key));
  HONE_ASSIGN_OR_RETURN(ModelReply reply, Ask(key, inputs, RepliesTo(inputs.call_type, options_)));
  if (!reply.ok()) return std::vector<CandidateRecord>();
  if (!reply.more.empty()) {
    HONE_ASSIGN_OR_RETURN(std::vector<CandidateRecord> several,
                          ProposeSeveral(key, parent, inputs.call_type, other_parent, reply));
    if (!several.empty()) return several;
  }
  ReplyReading reading = ReadReply(reply.text, reply.finish_reason);
  std::string send_back = reading.send_back;
  if (send_back.empty()) {
    HONE_ASSIGN_OR_RETURN(send_back, SaidBefore(*reading.file, parent));
    // A candidate from before this rule does not change.
    HONE_ASSIGN_OR_RETURN(const std::optional<CallRecord> asked,
                          recorder_.store().Call(recorder_.run().id, key + ".again"));
    if (kept && !asked) send_back.clear();
  }
  if (!send_back.empty()) {
    PromptInputs again = inputs;
    again.first_message = send_back;
    HONE_ASSIGN_OR_RETURN(reply, Ask(key + ".again", again));
    // A repeated or incomplete file is still a file.
    if (!reply.ok() && !reading.file) return std::vector<CandidateRecord>();
    ReplyReading second = ReadReply(reply.text, reply.finish_reason);
    if (second.file || !reading.file) reading = std::move(second);
  }
  const std::optional<std::string> source = std::move(reading.file);
  if (kept) return std::vector<CandidateRecord>{*kept};
  CandidateRecord candidate = MakeCandidate(key, parent, inputs.call_type, source.value_or(reply.text));
  candidate.other_parent_key = other_parent;
  if (!source) {
    candidate.verdict = NameOf(Decision::kRejected);
    candidate.reason = "no-code";
    candidate.detail = "two replies in a row held no Python file with a class ModelNew";
  }
  HONE_RETURN_IF_ERROR(recorder_.Keep(candidate));
  return std::vector<CandidateRecord>{std::move(candidate)};
}

// All of them are stored before the first is judged, under the keys of their replies, so that the order of
// candidates does not depend on the moment of a kill.
Result<std::vector<CandidateRecord>> Spine::ProposeSeveral(const std::string& key, const std::string& parent,
                                                           const std::string& call_type,
                                                           const std::string& other_parent,
                                                           const ModelReply& reply) {
  std::vector<ReplyChoice> replies = reply.more;
  replies.insert(replies.begin(), {reply.text, reply.thinking, reply.finish_reason});
  std::vector<CandidateRecord> made;
  std::vector<std::string> dropped;
  for (size_t i = 0; i < replies.size(); ++i) {
    const int number = static_cast<int>(i + 1);
    const ReplyReading reading = ReadReply(replies[i].text, replies[i].finish_reason);
    const std::string source = reading.file.value_or("");
    std::string why = reading.send_back.empty() ? "" : "has no file that can be judged";
    if (why.empty()) {
      HONE_ASSIGN_OR_RETURN(const std::string said, SaidBefore(source, parent));
      if (!said.empty()) why = "is the file that it was asked to change";
    }
    for (const CandidateRecord& earlier : made)
      if (why.empty() && Trim(earlier.source) == Trim(source))
        why = fmt::format("repeats reply {}", ReplyNumberOf(earlier.key));
    if (!why.empty()) {
      dropped.push_back(fmt::format("reply {} {}", number, why));
      continue;
    }
    HONE_ASSIGN_OR_RETURN(std::optional<CandidateRecord> kept,
                          recorder_.store().Candidate(recorder_.run().id, ReplyKey(key, number)));
    if (!kept) {
      kept = MakeCandidate(ReplyKey(key, number), parent, call_type, source);
      kept->other_parent_key = other_parent;
      HONE_RETURN_IF_ERROR(recorder_.Keep(*kept));
    }
    made.push_back(std::move(*kept));
  }
  if (!dropped.empty())
    HONE_RETURN_IF_ERROR(recorder_.Decide("replies:" + key, call_type,
                                          fmt::format("{}: {} of {} replies are candidates; {}", key,
                                                      made.size(), replies.size(), Join(dropped, ", "))));
  return made;
}

// Judges every candidate of the call, and repairs it mechanically if that helps. The best continues. The
// others stay in the store, where the search and the choice of the winner find them.
Result<std::optional<CandidateRecord>> Spine::ProposeAndJudge(const std::string& key,
                                                              const std::string& parent,
                                                              const PromptInputs& inputs,
                                                              const std::string& other_parent) {
  HONE_ASSIGN_OR_RETURN(const std::vector<CandidateRecord> made, Propose(key, parent, inputs, other_parent));
  std::optional<CandidateRecord> best;
  for (const CandidateRecord& one : made) {
    HONE_ASSIGN_OR_RETURN(CandidateRecord judged, Judge(one));
    HONE_ASSIGN_OR_RETURN(judged, MendMechanically(judged));
    if (!best || GoesOnBefore(judged, *best)) best = std::move(judged);
  }
  return best;
}

// The message if a file equals its parent or another ancestor; else empty. Candidates of other branches do
// not count, because their existence depends on the order of replies.
Result<std::string> Spine::SaidBefore(const std::string& file, std::string parent) {
  for (int depth = 0; !parent.empty() && depth < 100; ++depth) {
    HONE_ASSIGN_OR_RETURN(const std::optional<CandidateRecord> earlier,
                          recorder_.store().Candidate(recorder_.run().id, parent));
    if (!earlier) break;
    if (Trim(earlier->source) == Trim(file))
      return fmt::format(
          "Your last reply is the same file as before, which was {}{}. Answer with a file that differs in "
          "what was asked for.",
          earlier->verdict, earlier->reason.empty() ? "" : " (" + earlier->reason + ")");
    parent = earlier->parent_key;
  }
  return std::string();
}

}  // namespace hone

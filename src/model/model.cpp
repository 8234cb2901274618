#include "model/model.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

#include "model/replies.h"

namespace hone {

namespace {

struct FailureRow {
  ModelFailure failure;
  std::string_view name;
  bool stops_the_run;
  ErrorKind kind;
};

constexpr FailureRow kFailures[] = {
    {ModelFailure::kNone, "none", false, ErrorKind::kInternal},
    {ModelFailure::kWrongKey, "wrong_key", true, ErrorKind::kUsage},
    {ModelFailure::kRefused, "refused", true, ErrorKind::kUsage},
    {ModelFailure::kContextTooLong, "context_too_long", false, ErrorKind::kInvalid},
    {ModelFailure::kTooLarge, "too_large", false, ErrorKind::kInvalid},
    {ModelFailure::kUnreachable, "unreachable", true, ErrorKind::kUnavailable},
    {ModelFailure::kRefusedTls, "refused_tls", true, ErrorKind::kUnavailable},
    {ModelFailure::kBadReply, "bad_reply", false, ErrorKind::kInvalid},
    {ModelFailure::kDeclined, "declined", false, ErrorKind::kInvalid},
    {ModelFailure::kOutOfTime, "out_of_time", false, ErrorKind::kTimeout},
    {ModelFailure::kOutOfBudget, "out_of_budget", false, ErrorKind::kInterrupted},
    {ModelFailure::kCommandFailed, "command_failed", false, ErrorKind::kUnavailable},
    {ModelFailure::kExhausted, "exhausted", false, ErrorKind::kNotFound},
    {ModelFailure::kNotOnRecord, "not_on_record", false, ErrorKind::kNotFound},
    {ModelFailure::kInterrupted, "interrupted", true, ErrorKind::kInterrupted},
};

const FailureRow& Row(ModelFailure failure) {
  for (const FailureRow& row : kFailures) {
    if (row.failure == failure) return row;
  }
  return kFailures[0];
}

}  // namespace

const std::vector<std::string>& CallTypes() {
  static const std::vector<std::string> kTypes = {
      "seed",       "seed_repair", "analysis",     "algorithm",    "algorithm_repair",
      "stage_grid", "stage_block", "stage_memory", "stage_repair", "improve",
      "combine",    "restart",     "mend",         "agent"};
  return kTypes;
}

std::string_view FailureName(ModelFailure failure) {
  return Row(failure).name;
}

ModelFailure FailureFromName(std::string_view name) {
  for (const FailureRow& row : kFailures) {
    if (row.name == name) return row.failure;
  }
  return ModelFailure::kBadReply;
}

bool StopsTheRun(ModelFailure failure) {
  return Row(failure).stops_the_run;
}

Error ModelReply::ToError() const {
  return Error{Row(failure).kind, message};
}

ModelReply Model::AskForSeveral(const ModelRequest& request, int n, const ModelProgress& progress) {
  return MergeReplies(AskApart(request, 1, std::max(1, n), progress));
}

std::vector<ModelReply> Model::AskApart(const ModelRequest& request, int first_number, int count,
                                        const ModelProgress& progress) {
  std::vector<ModelReply> replies(static_cast<size_t>(std::max(count, 0)));
  std::mutex mutex;
  std::vector<int64_t> tokens(replies.size(), 0);
  const auto ask = [&](size_t i) {
    ModelRequest one = request;
    one.key = ReplyKey(request.key, first_number + static_cast<int>(i));
    ModelProgress mine;
    mine.may_spend = progress.may_spend;
    mine.spent = progress.spent;
    if (progress.note)
      mine.note = [&](const std::string& note) {
        const std::lock_guard lock(mutex);
        progress.note(note);
      };
    if (progress.tokens)
      mine.tokens = [&, i](int64_t so_far) {
        const std::lock_guard lock(mutex);
        tokens[i] = so_far;
        progress.tokens(std::accumulate(tokens.begin(), tokens.end(), int64_t{0}));
      };
    try {
      replies[i] = Ask(one, mine);
    } catch (const std::exception& error) {
      replies[i].failure = ModelFailure::kUnreachable;
      replies[i].message = error.what();
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < replies.size(); ++i) {
    if (order_matters() || replies.size() == 1)
      ask(i);
    else
      threads.emplace_back(ask, i);
  }
  for (std::thread& thread : threads) thread.join();
  return replies;
}

void Model::MarkAnswered(const std::string&, const std::string&) {}

}  // namespace hone

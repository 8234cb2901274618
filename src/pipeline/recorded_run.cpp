#include "pipeline/recorded_run.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "model/replay.h"
#include "model/replies.h"
#include "pipeline/population.h"
#include "pipeline/prompt_facts.h"

namespace hone {

namespace {

constexpr char kStepsFile[] = "search.json";
constexpr char kReplay[] = "replay:";
constexpr size_t kMaxFile = 64u << 20;

std::vector<RecordedCall> RepliesOf(const std::vector<CallRecord>& calls) {
  std::vector<RecordedCall> recorded;
  for (const CallRecord& call : calls) {
    RecordedCall one;
    one.call_type = call.call_type;
    one.key = call.key;
    one.reply.text = call.reply;
    one.reply.thinking = call.thinking;
    one.reply.finish_reason = call.finish_reason;
    one.reply.model = call.model;
    one.reply.failure = call.status == "answered" ? ModelFailure::kNone : FailureFromName(call.status);
    one.reply.message = call.error;
    one.reply.usage = call;
    recorded.push_back(std::move(one));
    const std::vector<ReplyChoice> more = RepliesFrom(call.more_replies);
    for (size_t i = 0; i < more.size(); ++i) {
      RecordedCall further;
      further.call_type = call.call_type;
      further.key = ReplyKey(call.key, static_cast<int>(i + 2));
      further.reply.text = more[i].text;
      further.reply.thinking = more[i].thinking;
      further.reply.finish_reason = more[i].finish_reason;
      further.reply.model = call.model;
      // The first one has what the call used.
      further.reply.usage.price_known = true;
      recorded.push_back(std::move(further));
    }
  }
  return recorded;
}

// Those that came to something: a run may be stopped between a choice and its call.
std::vector<RecordedStep> StepsOf(const std::vector<CallRecord>& calls,
                                  const std::vector<DecisionRecord>& decisions) {
  std::set<int> made;
  for (const CallRecord& call : calls) made.insert(StepOf(call.key));
  for (const DecisionRecord& one : decisions)
    if (EndsWith(one.key, ".end")) made.insert(StepOf(one.key));
  std::vector<RecordedStep> steps;
  for (const DecisionRecord& one : decisions) {
    const int number = StepOf(one.key);
    if (number == 0 || Contains(one.key, ".") || made.count(number) == 0) continue;
    RecordedStep step = RecordedStepFrom(ParsedOrEmpty(one.json));
    step.number = number;
    steps.push_back(std::move(step));
  }
  std::sort(steps.begin(), steps.end(),
            [](const RecordedStep& a, const RecordedStep& b) { return a.number < b.number; });
  return steps;
}

}  // namespace

Result<size_t> WriteRecording(RunStore& store, const RunRecord& run, const fs::path& folder) {
  HONE_ASSIGN_OR_RETURN(const std::vector<CallRecord> calls, store.Calls(run.id));
  if (calls.empty())
    return Error{ErrorKind::kNotFound,
                 "the run " + run.name + " called no model, so there is nothing to replay"};
  HONE_ASSIGN_OR_RETURN(const std::vector<DecisionRecord> decisions, store.Decisions(run.id));
  const std::vector<RecordedCall> replies = RepliesOf(calls);
  HONE_RETURN_IF_ERROR(WriteReplay(folder, replies));
  const std::vector<RecordedStep> steps = StepsOf(calls, decisions);
  if (steps.empty()) return replies.size();
  Json rows = Json::array();
  for (const RecordedStep& step : steps) rows.push_back(ToJson(step));
  HONE_RETURN_IF_ERROR(
      WriteFileAtomic(folder / kStepsFile, DumpJson(Json{{"version", 1}, {"steps", rows}}, 2) + "\n"));
  return replies.size();
}

Result<std::vector<RecordedStep>> ReadRecordedSteps(const fs::path& folder) {
  std::vector<RecordedStep> steps;
  std::error_code ignored;
  if (!fs::exists(folder / kStepsFile, ignored)) return steps;
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(folder / kStepsFile, kMaxFile));
  const Result<Json> json = ParseJson(text);
  const std::string where = (folder / kStepsFile).string();
  if (!json.ok() || !GetMember(*json, "steps").is_array())
    return Error{ErrorKind::kInvalid, where + " is not an object with a list of steps"};
  for (const Json& row : GetMember(*json, "steps")) {
    RecordedStep step = RecordedStepFrom(row);
    if (step.number <= (steps.empty() ? 0 : steps.back().number))
      return Error{ErrorKind::kInvalid, where + ": steps are numbered from 1, each with a higher number"};
    steps.push_back(std::move(step));
  }
  return steps;
}

RunOptions ReplayOptions(const RunOptions& options, const RunRecord& run, size_t calls,
                         const std::string& folder) {
  RunOptions replay = options;
  replay.proposer = (ExpertBesideModel(options) ? "expert+" : "") + (kReplay + folder);
  replay.model = Json::object();
  replay.follow.clear();
  replay.budget.usd = 0;
  replay.budget.minutes = 0;
  if (run.status != "done") replay.budget.calls = static_cast<int>(calls);
  // Steps side by side would compete for the last calls. A step that follows the recording makes its calls
  // only.
  if (const Result<std::vector<RecordedStep>> steps = ReadRecordedSteps(folder);
      steps.ok() && !steps->empty())
    replay.budget.calls = 0;
  return replay;
}

std::string ReplayFolder(const RunOptions& options) {
  const std::string model = ModelPartOf(options);
  return StartsWith(model, kReplay) ? model.substr(sizeof(kReplay) - 1) : "";
}

}  // namespace hone

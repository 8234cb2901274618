// A coding agent as the proposer: it gets a folder with the task and a budget, and sends requests to the
// judge of this run through AgentDesk. Every file that it submits becomes a candidate of the run before it is
// judged, and the verdict is recorded before the agent sees it. The record thus contains all that the agent
// knows, and a killed run continues from it: files that have a verdict in this run are not judged again.
//
// Files that the agent writes into its folder are not read here. The agent is ended at its deadline, when the
// run stops, and some time after its budget of evaluations is spent.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/ids.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "pipeline/agent_folder.h"
#include "pipeline/spine.h"
#include "task/card.h"

namespace hone {

struct Spine::AgentSitting {
  fs::path folder;
  std::string readme;
  Deadline deadline = Deadline::Never();
  std::mutex turn;         // only one file is judged at a time
  std::mutex broke_mutex;  // guards `broke` and `spent_at`
  std::optional<Error> broke;
  std::optional<Stopwatch> spent_at;  // since a request was refused for lack of budget
  CallRecord call;
  Stopwatch watch;
};

namespace {

constexpr const char* kAgentPhase = "agent";
// Time for an agent to finish after it was told that its budget is spent.
constexpr double kSpentGrace_s = 60;

Json AgentRefusal(const std::string& why) {
  return {{"status", "refused"}, {"message", std::string(TrimPeriods(why))}};
}

Json BriefOf(const CandidateRecord& candidate) {
  return {{"key", candidate.key},          {"parent", candidate.parent_key}, {"title", candidate.title},
          {"verdict", candidate.verdict},  {"reason", candidate.reason},     {"vs_best", candidate.vs_best},
          {"vs_eager", candidate.vs_eager}};
}

// The verdict as `hone bench --json` prints it.
Json VerdictOf(const CandidateRecord& candidate, bool recorded_before) {
  Json answer = {{"status", "judged"}, {"recorded_before", recorded_before}};
  answer.update(BriefOf(candidate));
  Result<Json> record = ParseJson(candidate.json);
  if (record.ok() && record->is_object()) {
    record->erase("measurement");
    answer["record"] = std::move(*record);
  }
  return answer;
}

std::string EndSentence(const AgentReport& report, int judged) {
  const std::string how = report.end == AgentEnd::kOutOfTime ? "its time was over and it was ended"
                          : report.end == AgentEnd::kStopped ? "it was ended with the run"
                          : report.exit.signal != 0
                              ? fmt::format("it was killed by signal {}", report.exit.signal)
                              : fmt::format("it ended with exit code {}", report.exit.code);
  std::string text = fmt::format("the agent had {} file{} judged; {} after {}", judged,
                                 judged == 1 ? "" : "s", how, HumanSeconds(report.exit.seconds));
  if (report.end == AgentEnd::kByItself && report.exit.code == 0) return text;
  const std::string last(Trim(Tail(report.exit.err.empty() ? report.exit.out : report.exit.err, 300)));
  if (!last.empty()) text += "; it said last: " + SafeForTerminal(last);
  return text;
}

}  // namespace

Status Spine::Agent() {
  HONE_ASSIGN_OR_RETURN(const std::vector<CandidateRecord> before,
                        recorder_.store().Candidates(recorder_.run().id));
  // The candidates that the last session was judging when it was killed.
  for (const CandidateRecord& one : before)
    if (one.phase == kAgentPhase && !one.judged()) HONE_RETURN_IF_ERROR(Judge(one));
  HONE_ASSIGN_OR_RETURN(const std::vector<CallRecord> calls, recorder_.store().Calls(recorder_.run().id));
  double used_s = 0;
  for (const CallRecord& call : calls) used_s += call.seconds;
  // The agent did something and ended by itself, so there is nothing to resume.
  const bool any = std::any_of(before.begin(), before.end(),
                               [](const CandidateRecord& one) { return one.phase == kAgentPhase; });
  if (any && calls.back().status == "answered" && calls.back().finish_reason == "ended") return Ok();
  const double left_s = 60 * options_.agent_minutes - used_s;
  if (left_s <= 0) return Ok();
  HONE_RETURN_IF_ERROR(MayGoOn());
  // A walk through a record (report/record_walk.h) has no folder and starts no program.
  if (recorder_.run().folder.empty()) return Error{ErrorKind::kUsage, "an agent needs a run with a folder"};
  AgentSitting sitting;
  sitting.folder = recorder_.folder() / "agent";
  sitting.deadline = Deadline::After(std::min(left_s, deadline_.seconds_left()));
  sitting.call.run_id = recorder_.run().id;
  sitting.call.key = fmt::format("agent.sitting{}", calls.size() + 1);
  sitting.call.created = UtcTimestamp();
  sitting.call.call_type = kAgentPhase;
  sitting.call.status = "running";
  sitting.call.model = options_.proposer;
  HONE_RETURN_IF_ERROR(OpenAgentFolder(sitting));
  return SitWith(sitting);
}

Status Spine::OpenAgentFolder(AgentSitting& sitting) {
  PromptInputs inputs = Inputs("agent");
  inputs.first_message = BudgetSentence(options_.budget.evaluations, sitting.deadline.seconds_left() / 60);
  HONE_ASSIGN_OR_RETURN(const Prompt prompt, RenderPrompt(inputs));
  AgentPapers papers;
  papers.readme = prompt.user;
  papers.task_source = task_.source;
  papers.card_text = fmt::format("# {} on {}\n\n```\n{}```\n\nBest baseline: {}, {} per call.\n", task_.name,
                                 context_.device_name, CardText(CardFromJson(context_.card)),
                                 context_.best_rung.empty() ? "PyTorch" : context_.best_rung,
                                 HumanSeconds(context_.best_us * 1e-6));
  papers.card = {{"task", task_.name},
                 {"target", recorder_.run().target},
                 {"device_name", context_.device_name},
                 {"device", context_.device},
                 {"card", context_.card},
                 {"best_baseline", context_.best_rung},
                 {"best_us", context_.best_us},
                 {"max_evaluations", options_.budget.evaluations},
                 {"seconds_left", sitting.deadline.seconds_left()}};
  papers.program = OwnExecutable();
  sitting.call.prompt = papers.readme;
  return WriteAgentFolder(sitting.folder, papers);
}

Status Spine::SitWith(AgentSitting& sitting) {
  AgentJob job;
  HONE_ASSIGN_OR_RETURN(job.argv, AgentCommand(options_.proposer));
  job.folder = sitting.folder;
  job.deadline = sitting.deadline;
  job.may_go_on = [&] {
    const std::scoped_lock lock(sitting.broke_mutex);
    if (sitting.broke) return false;
    return !sitting.spent_at || sitting.spent_at->seconds() < kSpentGrace_s;
  };
  HONE_ASSIGN_OR_RETURN(
      const std::unique_ptr<AgentDesk> desk,
      AgentDesk::Open(sitting.folder, [&](const DeskRequest& request, const auto& still_there) {
        return AnswerAgent(sitting, request, still_there);
      }));
  // Saved before the start, because a killed session counts too.
  HONE_RETURN_IF_ERROR(recorder_.Keep(sitting.call));
  recorder_.Say(fmt::format("{}: {} works in {}", sitting.call.key, job.argv[0], job.folder.string()));
  recorder_.Doing(sitting.call.key, "the agent works");
  AgentProcess process;
  const Result<AgentReport> report = (agent_ != nullptr ? agent_ : &process)->Run(job);
  desk->Close();  // a file that is being judged still gets its verdict
  recorder_.Doing(sitting.call.key, "");
  HONE_RETURN_IF_ERROR(report);
  HONE_ASSIGN_OR_RETURN(const std::vector<CandidateRecord> all,
                        recorder_.store().Candidates(recorder_.run().id));
  const auto judged = std::count_if(all.begin(), all.end(), [](const CandidateRecord& one) {
    return one.phase == kAgentPhase && one.judged();
  });
  const std::string sentence = EndSentence(*report, static_cast<int>(judged));
  CallRecord& call = sitting.call;
  const bool fine = report->end == AgentEnd::kByItself && report->exit.code == 0;
  call.status = fine ? "answered" : std::string(FailureName(ModelFailure::kCommandFailed));
  // Marked as refused, so that a larger budget lets it continue.
  call.finish_reason = report->end == AgentEnd::kOutOfTime ? "out-of-time"
                       : report->end == AgentEnd::kStopped ? "stopped"
                       : sitting.spent_at                  ? "refused"
                                                           : "ended";
  call.reply = ValidUtf8(report->exit.out);
  call.thinking = ValidUtf8(report->exit.err);
  call.error = fine ? (judged == 0 ? sentence : "") : sentence;
  call.seconds = sitting.watch.seconds();
  HONE_RETURN_IF_ERROR(recorder_.Keep(call));
  HONE_RETURN_IF_ERROR(recorder_.Decide(
      call.key, kAgentPhase, sentence,
      {{"seconds", call.seconds}, {"exit_code", report->exit.code}, {"end", call.finish_reason}}));
  if (sitting.broke) return *sitting.broke;
  // Ctrl-C and spent budgets stop the run here. The agent's own end and its deadline do not.
  return MayGoOn();
}

Json Spine::LeftForAgent(const AgentSitting& sitting) {
  const int most = options_.budget.evaluations;
  return {{"evaluations", most > 0 ? Json(std::max(0, most - evaluations_.load())) : Json()},
          {"seconds", std::max(0.0, sitting.deadline.seconds_left())}};
}

Result<std::optional<CandidateRecord>> Spine::OfAgent(const std::string& sha256) {
  HONE_ASSIGN_OR_RETURN(const std::vector<CandidateRecord> all,
                        recorder_.store().Candidates(recorder_.run().id));
  for (const CandidateRecord& one : all)
    if (one.phase == kAgentPhase && one.sha256 == sha256) return std::optional<CandidateRecord>(one);
  return std::optional<CandidateRecord>();
}

Json Spine::AnswerAgent(AgentSitting& sitting, const DeskRequest& request,
                        const std::function<bool()>& still_there) {
  Json answer;
  if (request.verb == "lint") {
    const CandidateRecord described = judge_.Describe("lint", kAgentPhase, request.source, task_.source);
    const Result<Json> findings = ParseJson(described.findings);
    answer = {{"status", "linted"},
              {"kernel_class", described.kernel_class},
              {"findings", findings.ok() ? *findings : Json::array()}};
  } else if (request.verb == "history") {
    const Result<std::vector<CandidateRecord>> all = recorder_.store().Candidates(recorder_.run().id);
    if (!all.ok()) return AgentRefusal(all.error().message);
    answer = {{"status", "listed"}, {"candidates", Json::array()}};
    for (const CandidateRecord& one : *all) answer["candidates"].push_back(BriefOf(one));
  } else {
    Result<Json> judged = BenchForAgent(sitting, request, still_there);
    if (judged.ok()) {
      answer = std::move(*judged);
    } else {
      answer = AgentRefusal(judged.error().message);
      if (judged.error().kind != ErrorKind::kInterrupted) {
        const std::scoped_lock lock(sitting.broke_mutex);
        if (!sitting.broke) sitting.broke = judged.error();
      }
    }
  }
  answer["left"] = LeftForAgent(sitting);
  return answer;
}

Result<Json> Spine::BenchForAgent(AgentSitting& sitting, const DeskRequest& request,
                                  const std::function<bool()>& still_there) {
  const std::string sha256 = Sha256(request.source);
  const std::scoped_lock turn(sitting.turn);
  HONE_ASSIGN_OR_RETURN(const std::optional<CandidateRecord> kept, OfAgent(sha256));
  if (kept && kept->judged()) return VerdictOf(*kept, true);
  if (!still_there()) return AgentRefusal("whoever asked has hung up");
  HONE_RETURN_IF_ERROR(MayGoOn());
  CandidateRecord candidate;
  std::string remark;
  if (kept) {
    candidate = *kept;
  } else {
    HONE_ASSIGN_OR_RETURN(const std::vector<CandidateRecord> all,
                          recorder_.store().Candidates(recorder_.run().id));
    const auto mine = std::count_if(all.begin(), all.end(),
                                    [](const CandidateRecord& one) { return one.phase == kAgentPhase; });
    const bool known_parent = std::any_of(
        all.begin(), all.end(), [&](const CandidateRecord& one) { return one.key == request.parent; });
    if (!request.parent.empty() && !known_parent)
      remark = fmt::format("there is no candidate '{}' in this run, so no parent was recorded",
                           SafeForTerminal(request.parent));
    candidate = MakeCandidate(fmt::format("agent{}", mine + 1), known_parent ? request.parent : "",
                              kAgentPhase, request.source);
    candidate.title = ValidUtf8(request.note.empty() ? request.name : request.note);
  }
  if (EvaluationsSpent()) {
    HONE_ASSIGN_OR_RETURN(const std::optional<Judged> known, judge_.Known(FileOf(candidate)));
    if (!known) {
      {
        const std::scoped_lock lock(sitting.broke_mutex);
        if (!sitting.spent_at) sitting.spent_at = Stopwatch();
      }
      return StopOutOfEvaluations().error();
    }
  }
  if (!kept) HONE_RETURN_IF_ERROR(recorder_.Keep(candidate));
  HONE_ASSIGN_OR_RETURN(const CandidateRecord judged, Judge(candidate));
  // Saved now, so that the duration of a killed session is known.
  CallRecord so_far = sitting.call;
  so_far.seconds = sitting.watch.seconds();
  HONE_RETURN_IF_ERROR(recorder_.Keep(so_far));
  Json answer = VerdictOf(judged, false);
  if (!remark.empty()) answer["remark"] = remark;
  return answer;
}

}  // namespace hone

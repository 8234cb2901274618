// `hone prompt`: the prompt that a run would send, for every call type. What only a run has (earlier
// attempts, what other candidates reached) is left out, as in the first call of a run.
#include <fmt/format.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/live_line.h"
#include "model/analysis_record.h"
#include "model/model.h"
#include "model/prompt.h"
#include "model/usage.h"
#include "pipeline/candidate_judge.h"
#include "pipeline/kept_verdict.h"
#include "pipeline/prompt_facts.h"
#include "pipeline/rules.h"
#include "store/run_store.h"

namespace hone {

namespace {

struct PromptFlags : JudgeFlags {
  std::string task;
  std::string call_type = "seed";
  std::string candidate;
  std::string second;
  std::string analysis;
  int seed = 0;
  bool json = false;
};

bool NeedsCandidate(const std::string& call_type) {
  return call_type != "seed" && call_type != "restart" && call_type != "agent";
}

Status CheckPromptFlags(const PromptFlags& flags) {
  const auto refuse = [&](const std::string& what) {
    return Error{ErrorKind::kUsage, fmt::format("a prompt of type {} {}", flags.call_type, what)};
  };
  const bool combines = flags.call_type == "combine";
  const bool follows_analysis = flags.call_type == "algorithm" || flags.call_type == "algorithm_repair";
  if (NeedsCandidate(flags.call_type) && flags.candidate.empty()) return refuse("needs --candidate FILE");
  if (!NeedsCandidate(flags.call_type) && !flags.candidate.empty())
    return refuse("is about no candidate; leave out --candidate");
  if (combines && flags.second.empty()) return refuse("needs a second candidate: --second FILE");
  if (!combines && !flags.second.empty()) return refuse("has one candidate; leave out --second");
  if (flags.call_type == "algorithm" && flags.analysis.empty())
    return refuse("needs the reply to an analysis: --analysis FILE");
  if (!follows_analysis && !flags.analysis.empty()) return refuse("has no analysis; leave out --analysis");
  return Ok();
}

Result<CandidateRecord> JudgeForPrompt(SessionJudge& judge, const TaskFile& task, const std::string& path,
                                       LiveLine& line) {
  HONE_ASSIGN_OR_RETURN(const CandidateFile file, LoadCandidateFile(path));
  CandidateRecord record = judge.Describe(file.name, "seed", file.source, task.source);
  HONE_ASSIGN_OR_RETURN(const Judged judged, judge.Judge(file, line.AsProgress(file.name)));
  KeepVerdict(judged.verdict, &record);
  record.json = DumpJson(RecordWithMeasurement(judged));
  return record;
}

// A run asks to improve or combine what is correct, and to mend what is not.
void SayWhatARunWouldNotAsk(const std::string& call_type, const CandidateRecord& record) {
  const bool of_right = call_type == "improve" || call_type == "combine";
  if ((of_right && IsRight(record)) || (call_type != "mend" && !of_right) ||
      (call_type == "mend" && !IsRight(record)))
    return;
  fmt::print(stderr, "hone: {} is {} ({}); a run sends a prompt of type {} only for a candidate that is {}\n",
             SafeForTerminal(record.key), record.verdict, record.reason, call_type,
             of_right ? "correct" : "not");
}

Json SearchOf(const PromptFlags& flags, const std::optional<CandidateRecord>& first,
              const std::optional<CandidateRecord>& second, double floor_us) {
  Json search = {{"others", Json::array()}, {"tried", Json::array()}};
  if (floor_us > 0) search["floor"] = HumanSeconds(floor_us * 1e-6);
  if (first && IsRight(*first)) search["reached"] = ReachedFacts(*first, floor_us);
  if (!second) return search;
  SayWhatARunWouldNotAsk(flags.call_type, *second);
  search["second_source"] = second->source;
  search["second_result"] = ReachedFacts(*second, floor_us);
  search["second_profile"] = TimeFacts(*second);
  return search;
}

Result<int> ShowPrompt(const PromptFlags& flags) {
  HONE_RETURN_IF_ERROR(CheckPromptFlags(flags));
  HONE_ASSIGN_OR_RETURN(const TaskFile task, LoadTaskFile(flags.task));
  HONE_ASSIGN_OR_RETURN(SessionOptions options, ResolveJudge(flags));
  options.lint_predicts = options.profile_all = true;  // as in a run with a model
  LiveLine line(LiveLine::Choose(true));
  SessionJudge judge(task, options, !flags.second.empty());
  HONE_ASSIGN_OR_RETURN(const TaskContext context, judge.Context(line.AsProgress(task.name)));
  PromptInputs inputs;
  inputs.call_type = flags.call_type;
  inputs.target = options.target;
  inputs.task_name = task.name;
  inputs.task_source = task.source;
  inputs.card = context.card;
  inputs.best_baseline = context.best_rung;
  inputs.best_us = context.best_us;
  inputs.device = context.device;
  inputs.seed_index = flags.seed;
  std::optional<CandidateRecord> first, second;
  if (!flags.candidate.empty()) {
    HONE_ASSIGN_OR_RETURN(first, JudgeForPrompt(judge, task, flags.candidate, line));
    inputs.candidate_source = first->source;
    inputs.findings = ParsedOrEmpty(first->findings);
    inputs.verdict = VerdictFacts(*first);
    inputs.profile = TimeFacts(*first);
  }
  if (!flags.second.empty()) {
    HONE_ASSIGN_OR_RETURN(second, JudgeForPrompt(judge, task, flags.second, line));
  }
  line.Clear();
  if (!flags.analysis.empty()) {
    HONE_ASSIGN_OR_RETURN(const std::string reply, ReadFile(flags.analysis));
    HONE_ASSIGN_OR_RETURN(const AnalysisRecord analysis, ParseAnalysis(reply).WithContext(flags.analysis));
    inputs.analysis = ToJson(analysis);
  }
  if (first) SayWhatARunWouldNotAsk(flags.call_type, *first);
  const std::string& type = flags.call_type;
  if (type == "improve" || type == "combine" || type == "restart" || type == "mend")
    inputs.search = SearchOf(flags, first, second, GetNumber(context.card, "floor_us"));
  HONE_ASSIGN_OR_RETURN(const Prompt prompt, RenderPrompt(inputs));
  if (flags.json)
    fmt::print("{}\n", DumpJson(OrderedJson{{"call_type", flags.call_type},
                                            {"system", prompt.system},
                                            {"prompt", prompt.user},
                                            {"tokens_estimated",
                                             EstimateTokens(prompt.system) + EstimateTokens(prompt.user)}}));
  else
    fmt::print("{}\n\n{}\n", prompt.system, prompt.user);
  return 0;
}

}  // namespace

void AddPromptCommand(CommandTable& table) {
  Command& command = table.Add("prompt", "Print the prompt that a run would send to a language model");
  auto flags = std::make_shared<PromptFlags>();
  command.Add("TASK", &flags->task, kTaskHelp).Required();
  command.Add("--call-type", &flags->call_type, "Kind of prompt").OneOf(CallTypes());
  command
      .Add(
          "--candidate", &flags->candidate,
          "Candidate that the prompt is about; it is judged first. Every kind except seed, restart and agent "
          "needs one")
      .Placeholder("FILE");
  command.Add("--second", &flags->second, "Second candidate, for --call-type combine; it is judged as well")
      .Placeholder("FILE");
  command.Add("--analysis", &flags->analysis, "Reply to the analysis that --call-type algorithm follows")
      .Placeholder("FILE");
  command.Add("--seed", &flags->seed, "Index of the seed, from 0").AtLeast(0);
  command.Add("--json", &flags->json, "Print JSON with an estimate of the tokens");
  AddJudgeFlags(command, flags.get());
  command.Example("hone prompt tasks/39_GRU.py --call-type seed");
  command.Example("hone prompt tasks/39_GRU.py --call-type analysis --candidate slow_gru.py");
  command.Example("hone prompt tasks/39_GRU.py --call-type combine --candidate one.py --second other.py");
  command.Runs([flags] { return ShowPrompt(*flags); });
}

}  // namespace hone

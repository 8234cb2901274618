#include <fmt/format.h>

#include "base/shell_word.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/live_line.h"
#include "cli/run_launcher.h"
#include "model/prompt.h"
#include "model/usage.h"
#include "pipeline/candidate_judge.h"
#include "pipeline/recorded_run.h"
#include "store/run_store.h"

namespace hone {

namespace {

Result<int> ExportReplay(const std::string& what, const std::string& folder) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::Open());
  HONE_ASSIGN_OR_RETURN(const RunRecord run, store->FindRun(what));
  if (StartsWith(run.proposer, "agent:"))
    return Error{ErrorKind::kUsage, "a run of an agent has no replies to play back; its candidates are in " +
                                        (fs::path(run.folder) / "code").string()};
  HONE_ASSIGN_OR_RETURN(const size_t replies, WriteRecording(*store, run, folder));
  HONE_ASSIGN_OR_RETURN(const std::vector<CallRecord> calls, store->CallSummaries(run.id));
  const Result<Json> json = ParseJson(run.options);
  const RunOptions options = RunOptionsFromJson(json.ok() ? *json : Json());
  std::vector<std::string> words = {"hone", "optimize", ShellWord(run.task_path)};
  for (const std::string& flag : FlagsFor(ReplayOptions(options, run, calls.size(), folder)))
    words.push_back(ShellWord(flag));
  fmt::print("{} replies in {}\nto replay them: {}\n", replies, folder, Join(words, " "));
  if (!options.mend)
    fmt::print(
        "the run was made without mechanical repair, which a replay has: it may judge more candidates\n");
  return 0;
}

struct PromptFlags : JudgeFlags {
  std::string task;
  std::string call_type = "seed";
  std::string candidate;
  int seed = 0;
  bool json = false;
};

// Uses placeholders for values that a run would know.
Result<int> ShowPrompt(const PromptFlags& flags) {
  HONE_ASSIGN_OR_RETURN(const TaskFile task, LoadTaskFile(flags.task));
  HONE_ASSIGN_OR_RETURN(const SessionOptions options, ResolveJudge(flags));
  LiveLine line(LiveLine::Choose(true));
  SessionJudge judge(task, options, false);
  HONE_ASSIGN_OR_RETURN(const TaskContext context, judge.Context(line.AsProgress(task.name)));
  PromptInputs inputs;
  inputs.call_type = flags.call_type;
  inputs.target = options.target;
  inputs.task_name = task.name;
  inputs.task_source = task.source;
  inputs.card = context.card;
  inputs.device = context.device;
  inputs.seed_index = flags.seed;
  if (!flags.candidate.empty()) {
    HONE_ASSIGN_OR_RETURN(const CandidateFile candidate, LoadCandidateFile(flags.candidate));
    inputs.candidate_source = candidate.source;
    HONE_ASSIGN_OR_RETURN(const Judged judged, judge.Judge(candidate, line.AsProgress(candidate.name)));
    HONE_ASSIGN_OR_RETURN(inputs.verdict, ParseJson(DumpJson(ToJson(judged.verdict))));
    HONE_ASSIGN_OR_RETURN(inputs.findings, ParseJson(DumpJson(ToJson(judged.verdict.findings))));
  }
  line.Clear();
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

void AddExportReplayCommand(CommandTable& table) {
  Command& command =
      table.Add("export-replay", "Write the model replies of a run into a folder for --proposer replay:DIR");
  struct Flags {
    std::string run, folder;
  };
  auto flags = std::make_shared<Flags>();
  command.Add("RUN", &flags->run, kRunHelp).Required();
  command.Add("DIR", &flags->folder, "New or empty folder").Required();
  command.Example("hone export-replay last recorded/");
  command.Runs([flags] { return ExportReplay(flags->run, flags->folder); });
}

void AddPromptCommand(CommandTable& table) {
  Command& command = table.Add("prompt", "Print the prompt that a run would send to a language model");
  auto flags = std::make_shared<PromptFlags>();
  command.Add("TASK", &flags->task, kTaskHelp).Required();
  command.Add("--call-type", &flags->call_type, "Kind of prompt")
      .OneOf({"seed", "seed_repair", "analysis", "algorithm", "algorithm_repair", "stage_grid", "stage_block",
              "stage_memory", "stage_repair", "agent"});
  command
      .Add("--candidate", &flags->candidate,
           "Candidate that the prompt is about; it is judged first. Every kind except seed and agent needs "
           "one")
      .Placeholder("FILE");
  command.Add("--seed", &flags->seed, "Index of the seed, from 0").AtLeast(0);
  command.Add("--json", &flags->json, "Print JSON with an estimate of the tokens");
  AddJudgeFlags(command, flags.get());
  command.Example("hone prompt tasks/39_GRU.py --call-type seed");
  command.Example("hone prompt tasks/39_GRU.py --call-type analysis --candidate slow_gru.py");
  command.Runs([flags] { return ShowPrompt(*flags); });
}

}  // namespace hone

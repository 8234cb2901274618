#include "base/text.h"
#include "cli/commands.h"
#include "cli/module_task.h"
#include "cli/run_launcher.h"
#include "cli/suite_command.h"
#include "store/run_rows.h"

namespace hone {

namespace {

Result<int> Optimize(OptimizeFlags flags, const ModuleFlags& module, const std::string& options_file) {
  if (!options_file.empty()) {
    HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(options_file));
    HONE_ASSIGN_OR_RETURN(const Json options, ParseJson(text).WithContext(options_file));
    SetOptions(RunOptionsFromJson(options), &flags);
  }
  HONE_ASSIGN_OR_RETURN(const fs::path task, TaskFileFor(flags.task, module, flags.python));
  flags.task = task.string();
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::Open());
  UniqueFd lock;
  HONE_ASSIGN_OR_RETURN(RunRecord run, CreateRun(*store, flags, &lock));
  return ExecuteRun(*store, std::move(run), flags.json, flags.quiet, std::move(lock));
}

struct ResumeFlags {
  std::string run;
  bool json = false;
  bool quiet = false;
  ModelFlags model;
  Budget budget;
  SuiteResumption suite;
};

// Options that may differ from the previous session: the connection to the model, and the total budget.
constexpr struct {
  const char* flag;
  const char* part;
  const char* field;
} kChangeable[] = {
    {"--model", "model", "model"},
    {"--model-repair", "model", "model_repair"},
    {"--api-base", "model", "api_base"},
    {"--api-base-repair", "model", "api_base_repair"},
    {"--api-key-env-repair", "model", "api_key_env_repair"},
    {"--api-key-file-repair", "model", "api_key_file_repair"},
    {"--request-extra-repair", "model", "extra_repair"},
    {"--reasoning-effort-repair", "model", "reasoning_effort_repair"},
    {"--api-style", "model", "api_style"},
    {"--api-key-env", "model", "api_key_env"},
    {"--api-key-file", "model", "api_key_file"},
    {"--prices", "model", "prices"},
    {"--request-extra", "model", "extra"},
    {"--max-output-tokens", "model", "max_output_tokens"},
    {"--idle-timeout", "model", "idle_timeout_s"},
    {"--temperature", "model", "temperature"},
    {"--reasoning-effort", "model", "reasoning_effort"},
    {"--max-tokens", "budget", "tokens"},
    {"--max-usd", "budget", "usd"},
    {"--max-calls", "budget", "calls"},
    {"--max-minutes", "budget", "minutes"},
    {"--max-evaluations", "budget", "evaluations"},
};

Result<int> Resume(const Command& command, ResumeFlags flags) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::Open());
  std::error_code ignored;
  for (std::string* path : {&flags.model.api_key_file, &flags.model.api_key_file_repair, &flags.model.prices})
    if (!path->empty()) *path = fs::absolute(*path, ignored).string();
  RunOptions given;
  given.model = ToJson(flags.model);
  given.budget = flags.budget;
  const Json asked = ToJson(given);
  std::vector<std::string> changed;
  for (const auto& each : kChangeable)
    if (command.Given(each.flag)) changed.emplace_back(each.flag);
  if (store->FindSuite(flags.run).ok()) {
    if (!changed.empty())
      return Error{ErrorKind::kUsage, changed[0] + " is for runs; resume the members of a suite one by one"};
    return ResumeSuite(flags.run, flags.suite, flags.json, flags.quiet);
  }
  for (const char* flag : {"--on", "--allow-mixed", "--table"})
    if (command.Given(flag)) return Error{ErrorKind::kUsage, std::string(flag) + " is for suites"};
  HONE_ASSIGN_OR_RETURN(RunRecord run, store->FindRun(flags.run));
  HONE_ASSIGN_OR_RETURN(Json options, ParseJson(run.options));
  if (IsFinished(run) && !IsFromArchive(options)) return ShowFinished(*store, run, flags.json);
  for (const auto& each : kChangeable)
    if (command.Given(each.flag) && options.is_object())
      options[each.part][each.field] = asked[each.part][each.field];
  if (!changed.empty()) HONE_RETURN_IF_ERROR(CheckModelRoles(RunOptionsFromJson(options)));
  run.options = DumpJson(options);
  return ExecuteRun(*store, std::move(run), flags.json, flags.quiet);
}

}  // namespace

void AddOptimizeCommand(CommandTable& table) {
  Command& command = table.Add(
      "optimize", "Find a faster module for a task and check that it computes the same (inference only)");
  auto flags = std::make_shared<OptimizeFlags>();
  auto module = std::make_shared<ModuleFlags>();
  command.Add("TASK", &flags->task, kTaskOrModuleHelp).Required();
  command.Add("--out", &flags->out, "Folder of the run (default: runs/<time>_<task>_<proposer>)")
      .Placeholder("DIR");
  command.Add("--suite", &flags->suite, "Name of the suite this run belongs to").Hidden();
  AddModuleFlags(command, module.get());
  auto options_file = std::make_shared<std::string>();
  command.Add("--options", options_file.get(), "File with the options of a run, as JSON").Hidden();
  AddRunFlags(command, flags.get());
  command.Note("The faster module is best.py in the folder of the run. It is for inference only.");
  command.Note("Exit code: 0 a faster module was accepted, 1 PyTorch stays, 2 wrong usage, 3 Hone failed.");
  command.Example("hone optimize tasks/39_GRU.py");
  command.Example("hone optimize my_code.py:MyModel --inputs make_inputs --init '(64, 128)'");
  command.Example("hone optimize my_model.py --proposer llm --model deepseek-chat --seeds 4 --max-usd 1");
  command.Example(
      "hone optimize my_model.py --proposer expert+llm --model strong-model --model-repair cheap-model "
      "--max-usd 5");
  command.Example("hone optimize my_model.py --proposer 'exec:python3 my_agent.py' --target triton");
  command.Example(
      "hone optimize my_model.py --proposer 'agent:my-agent --prompt-file README.md' --max-evaluations 20");
  command.Example("hone optimize my_model.py --proposer replay:recorded/ --json | jq .speedup");
  command.Runs([flags, module, options_file] { return Optimize(*flags, *module, *options_file); });
}

void AddResumeCommand(CommandTable& table) {
  Command& command = table.Add("resume", "Continue a run or a suite that was stopped or killed");
  auto flags = std::make_shared<ResumeFlags>();
  command.Add("RUN", &flags->run, "Run (name, its beginning, folder, R<number>, last) or name of a suite")
      .Required();
  command.Add("--json", &flags->json, "Print the run as JSON at the end");
  command.Add("-q,--quiet", &flags->quiet, "Print no progress");
  command
      .Add("--on", &flags->suite.on,
           "Continue a suite of `--on ray` on another cluster: ray or ray:HOST:PORT")
      .Placeholder("ray[:ADDRESS]");
  command.Add("--allow-mixed", &flags->suite.allow_mixed,
              "Continue a suite of `--on ray` even if versions differ between nodes");
  command.Add("--table", &flags->suite.table_only, "Print the table of a suite and run nothing").Hidden();
  AddBudgetFlags(command, &flags->budget);
  AddModelFlags(command, &flags->model);
  command.Note("Stored model replies and verdicts are reused.");
  command.Note(
      "Options given here replace those of the run. A budget covers all sessions together; 0 removes it.");
  command.Example("hone resume last");
  command.Example("hone resume last --max-usd 5 --api-base http://127.0.0.1:8000/v1");
  command.Example("hone resume runs/20260131-235959_39_GRU_llm");
  command.Runs([&command, flags] { return Resume(command, *flags); });
}

}  // namespace hone

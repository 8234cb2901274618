#include "cli/optimize_command.h"

#include "base/text.h"
#include "cli/run_launcher.h"
#include "cli/suite_command.h"

namespace hone {

namespace {

Result<int> Optimize(const OptimizeFlags& flags) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::Open());
  HONE_ASSIGN_OR_RETURN(RunRecord run, CreateRun(*store, flags));
  return ExecuteRun(*store, std::move(run), flags.json, flags.quiet);
}

struct ResumeFlags {
  std::string run;
  bool json = false;
  bool quiet = false;
  ModelFlags model;
  Budget budget;
};

// What may differ from the sitting before: how to reach the model, and how much may be spent in all.
constexpr struct {
  const char* flag;
  const char* part;
  const char* field;
} kChangeable[] = {
    {"--model", "model", "model"},
    {"--api-base", "model", "api_base"},
    {"--api-style", "model", "api_style"},
    {"--api-key-env", "model", "api_key_env"},
    {"--api-key-file", "model", "api_key_file"},
    {"--prices", "model", "prices"},
    {"--request-extra", "model", "extra"},
    {"--max-output-tokens", "model", "max_output_tokens"},
    {"--idle-timeout", "model", "idle_timeout_s"},
    {"--temperature", "model", "temperature"},
    {"--max-tokens", "budget", "tokens"},
    {"--max-usd", "budget", "usd"},
    {"--max-minutes", "budget", "minutes"},
    {"--max-evaluations", "budget", "evaluations"},
};

Result<int> Resume(const CLI::App& command, ResumeFlags flags) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::Open());
  std::error_code ignored;
  for (std::string* path : {&flags.model.api_key_file, &flags.model.prices})
    if (!path->empty()) *path = fs::absolute(*path, ignored).string();
  RunOptions given;
  given.model = ToJson(flags.model);
  given.budget = flags.budget;
  const Json asked = ToJson(given);
  std::vector<std::string> changed;
  for (const auto& each : kChangeable)
    if (command.count(each.flag) > 0) changed.emplace_back(each.flag);
  if (store->FindSuite(flags.run).ok()) {
    if (!changed.empty())
      return Error{ErrorKind::kUsage, changed[0] + " is for runs; resume the members of a suite one by one"};
    return ResumeSuite(flags.run, 0, flags.json);
  }
  HONE_ASSIGN_OR_RETURN(RunRecord run, store->FindRun(flags.run));
  HONE_ASSIGN_OR_RETURN(Json options, ParseJson(run.options));
  for (const auto& each : kChangeable)
    if (command.count(each.flag) > 0 && options.is_object())
      options[each.part][each.field] = asked[each.part][each.field];
  run.options = DumpJson(options);
  return ExecuteRun(*store, std::move(run), flags.json, flags.quiet);
}

}  // namespace

void AddOptimizeCommand(CLI::App& app, int* exit_code) {
  CLI::App* command = app.add_subcommand(
      "optimize", "Find a faster module for a task: propose, judge, repair, analyse, tune, keep the best");
  auto flags = std::make_shared<OptimizeFlags>();
  command->add_option("TASK", flags->task, "Task file with Model, get_inputs, get_init_inputs")->required();
  command->add_option("--out", flags->out, "The run's folder (default: runs/<time>_<task>_<proposer>)");
  command->add_option("--suite", flags->suite, "Name of the suite this run belongs to")->group("");
  AddRunFlags(command, flags.get());
  command->footer(
      "Exit code: 0 something faster was accepted, 1 PyTorch is kept, 2 usage, 3 Hone could not do its job.\n"
      "Examples:\n"
      "  hone optimize tasks/39_GRU.py\n"
      "  hone optimize my_model.py --proposer llm --model deepseek-chat --seeds 4 --max-usd 1\n"
      "  hone optimize my_model.py --proposer 'exec:python3 my_agent.py' --target triton\n"
      "  hone optimize my_model.py --proposer replay:recorded/ --json | jq .speedup");
  command->callback([flags, exit_code] {
    const Result<int> code = Optimize(*flags);
    *exit_code = code.ok() ? *code : Report(code.error());
  });
}

void AddResumeCommand(CLI::App& app, int* exit_code) {
  CLI::App* command = app.add_subcommand("resume", "Go on with a run or a suite that was stopped or killed");
  auto flags = std::make_shared<ResumeFlags>();
  command->add_option("RUN", flags->run, "A run's name, its beginning, its folder, R<number>, or last")
      ->required();
  command->add_flag("--json", flags->json, "Print the run as JSON at the end");
  command->add_flag("-q,--quiet", flags->quiet, "No progress");
  AddBudgetFlags(command, &flags->budget);
  AddModelFlags(command, &flags->model);
  command->footer(
      "Nothing that a model answered is asked again; nothing that was judged is judged again.\n"
      "Flags that are given replace those of the run; a budget is for all sittings together, 0 lifts it.\n"
      "Examples:\n  hone resume last\n  hone resume last --max-usd 5 --api-base http://127.0.0.1:8000/v1\n"
      "  hone resume runs/20260131-235959_39_GRU_llm");
  command->callback([command, flags, exit_code] {
    const Result<int> code = Resume(*command, *flags);
    *exit_code = code.ok() ? *code : Report(code.error());
  });
}

}  // namespace hone

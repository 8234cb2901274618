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

Result<int> Resume(const std::string& what, bool json, bool quiet) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::Open());
  if (store->FindSuite(what).ok()) return ResumeSuite(what, 0, json);
  HONE_ASSIGN_OR_RETURN(RunRecord run, store->FindRun(what));
  return ExecuteRun(*store, std::move(run), json, quiet);
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
  struct Flags {
    std::string run;
    bool json = false;
    bool quiet = false;
  };
  auto flags = std::make_shared<Flags>();
  command->add_option("RUN", flags->run, "A run's name, its beginning, its folder, R<number>, or last")
      ->required();
  command->add_flag("--json", flags->json, "Print the run as JSON at the end");
  command->add_flag("-q,--quiet", flags->quiet, "No progress");
  command->footer(
      "Nothing that a model answered is asked again; nothing that was judged is judged again.\n"
      "Examples:\n  hone resume last\n  hone resume runs/20260131-235959_39_GRU_llm");
  command->callback([flags, exit_code] {
    const Result<int> code = Resume(flags->run, flags->json, flags->quiet);
    *exit_code = code.ok() ? *code : Report(code.error());
  });
}

}  // namespace hone

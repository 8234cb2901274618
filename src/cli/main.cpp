// The hone program: one subcommand per file, one exit code per kind of end (see ExitCode).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <system_error>

#include "base/interrupt.h"
#include "base/text.h"
#include "cli/archive_command.h"
#include "cli/bench_command.h"
#include "cli/common.h"
#include "cli/compare_command.h"
#include "cli/completion_command.h"
#include "cli/config.h"
#include "cli/doctor_command.h"
#include "cli/explain_command.h"
#include "cli/export_command.h"
#include "cli/gc_command.h"
#include "cli/import_command.h"
#include "cli/lint_command.h"
#include "cli/optimize_command.h"
#include "cli/replay_command.h"
#include "cli/report_command.h"
#include "cli/runs_command.h"
#include "cli/serve_command.h"
#include "cli/show_command.h"
#include "cli/suite_command.h"
#include "cli/tail_command.h"
#include "process/sandbox_exec.h"
#include "process/tree.h"

namespace hone {
namespace {

int Usage(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  fmt::print(stderr, "hone: {}\n", SafeForTerminal(error.what()));
  if (app.get_subcommands().empty() && argc > 1) {
    std::vector<std::string> known;
    for (const CLI::App* command : app.get_subcommands({})) known.push_back(command->get_name());
    const std::string meant = ClosestWord(argv[1], known);
    if (!meant.empty() && meant != argv[1]) fmt::print(stderr, "hone: did you mean `hone {}`?\n", meant);
  }
  fmt::print(stderr, "hone: see `hone --help`\n");
  return kExitUsage;
}

int Run(int argc, char** argv) {
  CLI::App app{
      "Hone takes a PyTorch module and gives back a faster one that is proven to compute the same thing."};
  app.name("hone");
  app.set_version_flag("--version", "hone " HONE_VERSION);
  app.require_subcommand(1);
  app.footer("Start with `hone optimize TASK`; `hone bench TASK CANDIDATE` is the judge alone.");
  int exit_code = kExitCannot;
  AddOptimizeCommand(app, &exit_code);
  AddSuiteCommand(app, &exit_code);
  AddResumeCommand(app, &exit_code);
  AddBenchCommand(app, &exit_code);
  AddLintCommand(app, &exit_code);
  AddShowCommand(app, &exit_code);
  AddExplainCommand(app, &exit_code);
  AddCompareCommand(app, &exit_code);
  AddRunsCommand(app, &exit_code);
  AddReportCommand(app, &exit_code);
  AddExportCommand(app, &exit_code);
  AddTailCommand(app, &exit_code);
  AddServeCommand(app, &exit_code);
  AddImportCommand(app, &exit_code);
  AddArchiveCommand(app, &exit_code);
  AddGcCommand(app, &exit_code);
  AddPromptCommand(app, &exit_code);
  AddExportReplayCommand(app, &exit_code);
  AddDoctorCommand(app, &exit_code);
  AddCompletionCommand(app, &exit_code);
  std::vector<Setting> settings;
  AddConfigCommand(app, &settings, &exit_code);
  // A broken file must not keep anybody from asking for help.
  Result<std::vector<Setting>> configured = ApplyConfig(app, FindConfigFiles());
  if (configured.ok())
    settings = std::move(*configured);
  else if (argc > 1 && argv[1][0] != '-' && std::string_view(argv[1]) != "completion")
    return Report(configured.error());
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {
    return app.exit(done);
  } catch (const CLI::ParseError& error) {
    return Usage(app, error, argc, argv);
  }
  return exit_code;
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  hone::RunSandboxExecIfAsked(argc, argv);
  hone::InstallInterruptHandler();
  hone::BecomeSubreaper();
  try {
    const int code = hone::Run(argc, argv);
    hone::KillStrays({});
    return code;
  } catch (const std::system_error& error) {
    // The reader of a pipe left, as `head` does: nothing went wrong here.
    if (error.code().value() == EPIPE) return 0;
    std::fprintf(stderr, "hone: %s\n", error.what());
    return hone::kExitCannot;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hone: a bug in hone: %s\n", error.what());
    return hone::kExitCannot;
  }
}

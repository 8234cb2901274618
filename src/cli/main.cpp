// The hone program. Each subcommand is one file, and each kind of result has an exit code (see ExitCode).
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <system_error>

#include "base/interrupt.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/config.h"
#include "process/limits.h"
#include "process/sandbox_exec.h"
#include "process/tree.h"

namespace hone {
namespace {

int Run(const std::vector<std::string>& words) {
  CommandTable table(
      "hone",
      "Hone takes a PyTorch module and gives back a faster one whose results are checked against "
      "float64.");
  std::vector<Setting> settings;
  AddAllCommands(table, &settings);
  // A broken file must not prevent users from reading the help.
  Result<std::vector<Setting>> configured = ApplyConfig(table, FindConfigFiles());
  if (configured.ok())
    settings = std::move(*configured);
  else if (!words.empty() && words[0][0] != '-' && words[0] != "completion")
    return Report(configured.error(), AskForJson(words));
  const Result<CommandLine> line = ParseCommandLine(table, words);
  if (!line.ok()) return Report(line.error(), AskForJson(words));
  if (line->command == nullptr) {
    fmt::print("{}", line->text);
    return kExitAccepted;
  }
  const Result<int> code = line->command->Run();
  return code.ok() ? *code : Report(code.error(), line->command->WantsJson());
}

// Reports an exception like any other failure. If even that fails, returns the exit code only.
int ReportThrown(const std::string& message, const std::vector<std::string>& words) {
  try {
    return Report(Error{ErrorKind::kInternal, message}, AskForJson(words));
  } catch (const std::exception&) {
    return kExitCannot;
  }
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  hone::RunSandboxExecIfAsked(argc, argv);
  hone::InstallInterruptHandler();
  hone::BecomeSubreaper();
  hone::RaiseOwnLimits();
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  try {
    const int code = hone::Run(words);
    hone::KillStrays({});
    return code;
  } catch (const std::system_error& error) {
    // The reader of the pipe has exited, as `head` does. That is not an error.
    if (error.code().value() == EPIPE) return 0;
    return hone::ReportThrown(error.what(), words);
  } catch (const std::exception& error) {
    return hone::ReportThrown(std::string("a bug in hone: ") + error.what(), words);
  }
}

// The hone program: one subcommand per file, one exit code per kind of end (see ExitCode).
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <system_error>

#include "base/interrupt.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/config.h"
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
  // A broken file must not keep anybody from asking for help.
  Result<std::vector<Setting>> configured = ApplyConfig(table, FindConfigFiles());
  if (configured.ok())
    settings = std::move(*configured);
  else if (!words.empty() && words[0][0] != '-' && words[0] != "completion")
    return Report(configured.error());
  const Result<CommandLine> line = ParseCommandLine(table, words);
  if (!line.ok()) return Report(line.error(), std::find(words.begin(), words.end(), "--json") != words.end());
  if (line->command == nullptr) {
    fmt::print("{}", line->text);
    return kExitAccepted;
  }
  const Result<int> code = line->command->Run();
  return code.ok() ? *code : Report(code.error(), line->command->WantsJson());
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  hone::RunSandboxExecIfAsked(argc, argv);
  hone::InstallInterruptHandler();
  hone::BecomeSubreaper();
  try {
    const int code = hone::Run(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
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

#include "cli/commands.h"

namespace hone {

void AddAllCommands(CommandTable& table, const std::vector<Setting>* settings) {
  table.root.Add("--version", std::monostate(), "Print the version and exit");
  table.root.Note("Hone optimizes modules for inference. It neither checks nor times training.");
  table.root.Note("`hone COMMAND --help` explains a command.");
  table.root.Note(
      "Runs and verdicts are stored in $HONE_DATA (default: ~/.local/share/hone); caches are in $HONE_CACHE "
      "(default: ~/.cache/hone).");
  table.root.Example("hone optimize TASK", "find a faster module");
  table.root.Example("hone bench TASK CANDIDATE", "check and time your own");
  AddOptimizeCommand(table);
  AddSuiteCommand(table);
  AddResumeCommand(table);
  AddBenchCommand(table);
  AddLintCommand(table);
  AddShowCommand(table);
  AddExplainCommand(table);
  AddCompareCommand(table);
  AddRunsCommand(table);
  AddNoteCommand(table);
  AddReportCommand(table);
  AddExportCommand(table);
  AddTailCommand(table);
  AddServeCommand(table);
  AddMcpCommand(table);
  AddAgentAskCommand(table);
  AddImportCommand(table);
  AddArchiveCommand(table);
  AddGcCommand(table);
  AddPromptCommand(table);
  AddExportReplayCommand(table);
  AddDoctorCommand(table);
  AddCompletionCommand(table);
  AddConfigCommand(table, settings);
}

}  // namespace hone

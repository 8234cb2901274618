// The commands of the program. One file, NAME_command.cpp, describes and runs each command and adds it to the
// table here.
#pragma once

#include <vector>

#include "cli/options.h"

namespace hone {

struct Setting;

void AddOptimizeCommand(CommandTable& table);
void AddSuiteCommand(CommandTable& table);
void AddResumeCommand(CommandTable& table);
void AddBenchCommand(CommandTable& table);
void AddLintCommand(CommandTable& table);
void AddShowCommand(CommandTable& table);
void AddExplainCommand(CommandTable& table);
void AddCompareCommand(CommandTable& table);
void AddRunsCommand(CommandTable& table);
void AddNoteCommand(CommandTable& table);
void AddReportCommand(CommandTable& table);
void AddExportCommand(CommandTable& table);
void AddTailCommand(CommandTable& table);
void AddServeCommand(CommandTable& table);
void AddMcpCommand(CommandTable& table);
void AddAgentAskCommand(CommandTable& table);
void AddImportCommand(CommandTable& table);
void AddArchiveCommand(CommandTable& table);
void AddGcCommand(CommandTable& table);
void AddPromptCommand(CommandTable& table);
void AddExportReplayCommand(CommandTable& table);
void AddDoctorCommand(CommandTable& table);
void AddCompletionCommand(CommandTable& table);
// `settings` is filled before the command runs.
void AddConfigCommand(CommandTable& table, const std::vector<Setting>* settings);

// Adds all commands and the text of the program's help.
void AddAllCommands(CommandTable& table, const std::vector<Setting>* settings);

}  // namespace hone

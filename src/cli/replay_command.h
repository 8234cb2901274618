// hone export-replay and hone prompt: a run's calls as files, and what would be sent.
#pragma once

#include <CLI/CLI.hpp>

namespace hone {
void AddExportReplayCommand(CLI::App& app, int* exit_code);
void AddPromptCommand(CLI::App& app, int* exit_code);
}  // namespace hone

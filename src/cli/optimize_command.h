// hone optimize: the main job.
#pragma once

#include <CLI/CLI.hpp>

namespace hone {
void AddOptimizeCommand(CLI::App& app, int* exit_code);
void AddResumeCommand(CLI::App& app, int* exit_code);
}  // namespace hone

// `hone export RUN`: a run for other tools.
#pragma once

#include <CLI/CLI.hpp>

namespace hone {

void AddExportCommand(CLI::App& app, int* exit_code);

}  // namespace hone

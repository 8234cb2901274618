// `hone explain RUN`: a run's post-mortem.
#pragma once

#include <CLI/CLI.hpp>

namespace hone {

void AddExplainCommand(CLI::App& app, int* exit_code);

}  // namespace hone

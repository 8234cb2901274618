// `hone serve`: the dashboard, until Ctrl-C.
#pragma once

#include <CLI/CLI.hpp>

namespace hone {

void AddServeCommand(CLI::App& app, int* exit_code);

}  // namespace hone

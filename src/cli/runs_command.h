// `hone runs`: what the store remembers, the newest first.
#pragma once

#include <CLI/CLI.hpp>

namespace hone {

void AddRunsCommand(CLI::App& app, int* exit_code);

}  // namespace hone

// `hone bench TASK CANDIDATE...`: the judge alone.
#pragma once

#include <CLI/CLI.hpp>

namespace hone {

void AddBenchCommand(CLI::App& app, int* exit_code);

}  // namespace hone

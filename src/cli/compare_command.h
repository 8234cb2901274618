// `hone compare`: runs, two candidates or two suites side by side.
#pragma once

#include <CLI/CLI.hpp>

namespace hone {

void AddCompareCommand(CLI::App& app, int* exit_code);

}  // namespace hone

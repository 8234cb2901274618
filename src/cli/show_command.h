// `hone show TASK|V<number>`: a task's card and what it can tell apart, or a stored verdict.
#pragma once

#include <CLI/CLI.hpp>

namespace hone {

void AddShowCommand(CLI::App& app, int* exit_code);

}  // namespace hone

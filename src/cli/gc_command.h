// `hone gc`: removes old runs and verdicts from the store, and the files of those runs; says what it would do
// unless it is told to do it.
#pragma once

#include <CLI/CLI.hpp>

namespace hone {
void AddGcCommand(CLI::App& app, int* exit_code);
}

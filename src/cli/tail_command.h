// `hone tail RUN`: what a run says and judges, as it happens, until it ends.
#pragma once

#include <CLI/CLI.hpp>

namespace hone {

void AddTailCommand(CLI::App& app, int* exit_code);

}  // namespace hone

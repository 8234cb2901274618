// `hone report RUN|SUITE`: the documents people keep, in files.
#pragma once

#include <CLI/CLI.hpp>

namespace hone {

void AddReportCommand(CLI::App& app, int* exit_code);

}  // namespace hone

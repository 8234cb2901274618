// `hone archive RUN [FILE]`: a run as one file, which `hone import` takes anywhere.
#pragma once

#include <CLI/CLI.hpp>

namespace hone {
void AddArchiveCommand(CLI::App& app, int* exit_code);
}

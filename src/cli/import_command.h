// hone import: kernels that were made elsewhere, as runs in the store.
#pragma once

#include <CLI/CLI.hpp>

namespace hone {
void AddImportCommand(CLI::App& app, int* exit_code);
}  // namespace hone

// hone suite: many tasks, each in a process of its own, so that one that dies costs only itself.
#pragma once

#include <CLI/CLI.hpp>

#include "base/result.h"

namespace hone {
void AddSuiteCommand(CLI::App& app, int* exit_code);
// Goes on with a suite that is in the store.
Result<int> ResumeSuite(const std::string& name, int jobs, bool json);
}  // namespace hone

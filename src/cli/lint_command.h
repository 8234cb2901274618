// `hone lint`: static analysis of candidates, many at once.
#pragma once

namespace CLI {
class App;
}

namespace hone {

// Adds the subcommand; its callback runs it and stores 0 (clean), 1 (an error-level finding), 2 (usage) or
// 3 (Hone could not do its job).
void AddLintCommand(CLI::App& app, int* exit_code);

}  // namespace hone

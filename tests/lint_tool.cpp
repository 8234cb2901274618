// A program with nothing but `lint` in it, for tests, fuzzing and benchmarks of that room alone.
#include <CLI/CLI.hpp>

#include "cli/lint_command.h"

int main(int argc, char** argv) {
  CLI::App app("static analysis of candidates");
  int exit_code = 0;
  hone::AddLintCommand(app, &exit_code);
  app.require_subcommand(1);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return exit_code;
}

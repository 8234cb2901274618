// `hone completion bash|zsh|fish`: a completion script written from the command tree itself, so that it
// knows every subcommand and option without a list to keep in step.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace hone {

struct CompletionOption {
  std::vector<std::string> names;  // "--json", "-j"
  std::string description;
  bool takes_value = false;
  std::vector<std::string>
      choices;  // the values it accepts, where they are a fixed set; else files are offered
};

struct CompletionCommand {
  std::string name;
  std::string description;
  std::vector<CompletionOption> options;
  std::vector<std::string> choices;  // fixed values of a positional argument
  bool takes_files = false;          // has a positional argument without fixed values
  std::vector<CompletionCommand> commands;
};

CompletionCommand DescribeForCompletion(const CLI::App& app);
std::string BashCompletion(const CompletionCommand& root);
std::string ZshCompletion(const CompletionCommand& root);
std::string FishCompletion(const CompletionCommand& root);

// Add it last: it reads the tree when it runs.
void AddCompletionCommand(CLI::App& app, int* exit_code);

}  // namespace hone

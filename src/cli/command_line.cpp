#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/terminal.h"
#include "base/text.h"
#include "cli/help.h"

namespace hone {

namespace {

// CLI11 splits the words, but the option itself checks and stores them. The same code thus reads hone.toml,
// the environment and the command line.
void AddOption(CLI::App& app, Option& option) {
  const std::string names = Join(option.names(), ",");
  const auto assign = [&option](const CLI::results_t& words) {
    const Status assigned = option.Assign(words);
    if (!assigned.ok()) throw CLI::ValidationError(option.name(), assigned.error().message);
    option.MarkGiven();
    return true;
  };
  if (option.is_text()) {
    if (option.name() == "--help")
      app.set_help_flag(names);
    else
      app.add_flag_callback(names, [] { throw CLI::CallForVersion(HONE_VERSION, 0); });
    return;
  }
  if (option.is_flag()) {
    app.add_flag_function(names, [assign](int64_t count) { assign({count > 0 ? "true" : "false"}); });
    return;
  }
  CLI::Option* added = app.add_option(names, assign);
  if (option.required()) added->required();
  if (option.is_list() && !option.positional())
    added->take_all();  // one value per occurrence, so that it never swallows an argument
  else if (option.is_list() && option.most() == std::numeric_limits<int>::max())
    added->expected(CLI::detail::expected_max_vector_size);
  else if (option.is_list())
    added->expected(option.fewest(), option.most())->allow_extra_args();
  if (!option.without_value().empty()) added->expected(0, 1)->default_str(option.without_value());
}

void AddOptions(CLI::App& app, Command& command) {
  for (Option& option : command.options()) AddOption(app, option);
  for (const Option& option : command.options())
    if (!option.excludes().empty())
      app.get_option(option.name())->excludes(app.get_option(option.excludes()));
}

std::string Guess(const std::string& word, const std::vector<std::string>& known, const char* prefix) {
  const std::string meant = ClosestWord(word, known);
  return meant.empty() || meant == word ? "" : fmt::format("; did you mean `{}{}`?", prefix, meant);
}

// The error message, in Hone's words where CLI11's mention its own types.
std::string Complaint(const CLI::App& app, const CLI::ParseError& error, const CommandTable& table,
                      const Command* command, const std::string& first_word) {
  if (command == nullptr && !first_word.empty() && first_word[0] != '-') {
    std::vector<std::string> names;
    for (const Command& one : table.commands) names.push_back(one.name());
    return fmt::format("there is no command '{}'{}", first_word, Guess(first_word, names, "hone "));
  }
  if (command == nullptr && first_word.empty()) return "a command is needed";
  const std::vector<std::string> extra = app.remaining(true);
  // Reports a misspelt option first, because a value that seems to be missing often belongs to it.
  const bool unexpected = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  if (extra.empty() || (!unexpected && extra[0][0] != '-')) return error.what();
  if (extra[0][0] != '-') return fmt::format("'{}' is one argument too many", extra[0]);
  std::vector<std::string> names;
  for (const Option& option : (command == nullptr ? table.root : *command).options())
    if (!option.positional() && !option.hidden()) names.push_back(option.name());
  return fmt::format("there is no option {}{}", extra[0], Guess(extra[0], names, ""));
}

}  // namespace

Result<CommandLine> ParseCommandLine(CommandTable& table, std::vector<std::string> words) {
  CLI::App app;
  AddOptions(app, table.root);
  app.require_subcommand(1);
  for (Command& command : table.commands) AddOptions(*app.add_subcommand(command.name()), command);
  const auto chosen = [&]() -> const Command* {
    for (const Command& command : table.commands)
      if (app.got_subcommand(command.name())) return &command;
    return nullptr;
  };
  const std::string first_word = words.empty() ? "" : words[0];
  try {
    std::reverse(words.begin(), words.end());
    app.parse(words);
  } catch (const CLI::CallForHelp&) {
    const Command* command = chosen();
    return CommandLine{nullptr, command == nullptr ? ProgramHelp(table, TerminalWidth())
                                                   : CommandHelp(table, *command, TerminalWidth())};
  } catch (const CLI::CallForVersion&) {
    return CommandLine{nullptr, "hone " HONE_VERSION "\n"};
  } catch (const CLI::ParseError& error) {
    const Command* command = chosen();
    return Error{ErrorKind::kUsage,
                 fmt::format("{}\nsee `{}{}{} --help`", Complaint(app, error, table, command, first_word),
                             table.root.name(), command == nullptr ? "" : " ",
                             command == nullptr ? "" : command->name())};
  }
  return CommandLine{chosen(), ""};
}

}  // namespace hone

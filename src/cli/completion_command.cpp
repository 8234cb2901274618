#include "cli/completion_command.h"

#include <fmt/format.h>

#include <memory>

#include "base/text.h"
#include "cli/commands.h"

namespace hone {

namespace {

std::string FirstSentence(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  return line.substr(0, line.find(". "));
}

std::vector<const Command*> Shown(const CommandTable& table) {
  std::vector<const Command*> shown;
  for (const Command& command : table.commands)
    if (!command.hidden()) shown.push_back(&command);
  return shown;
}

// The options that begin with dashes.
std::vector<const Option*> Dashed(const Command& command) {
  std::vector<const Option*> dashed;
  for (const Option& option : command.options())
    if (!option.positional() && !option.hidden()) dashed.push_back(&option);
  return dashed;
}

// The possible positional arguments: fixed words, files, or none.
struct Positionals {
  std::vector<std::string> words;
  bool files = false;
};

Positionals PositionalsOf(const Command& command) {
  Positionals positionals;
  for (const Option& option : command.options()) {
    if (!option.positional() || option.hidden()) continue;
    positionals.words.insert(positionals.words.end(), option.choices().begin(), option.choices().end());
    positionals.files = positionals.files || option.choices().empty();
  }
  return positionals;
}

// Puts a word in single quotes, which all three shells understand.
std::string Quoted(const std::string& text) {
  return "'" + ReplaceAll(text, "'", "'\\''") + "'";
}

// The body of one `case $command` branch: the possible completions, from the previous word and the current
// one.
std::string BashBranch(const Command& command, const Positionals& positionals) {
  std::string text = "      case $previous in\n";
  std::vector<std::string> names;
  for (const Option* option : Dashed(command)) {
    names.insert(names.end(), option->names().begin(), option->names().end());
    if (!option->takes_value()) continue;
    text +=
        fmt::format("        {}) {}; return ;;\n", Join(option->names(), "|"),
                    option->choices().empty() ? "COMPREPLY=($(compgen -f -- \"$current\"))"
                                              : fmt::format("COMPREPLY=($(compgen -W {} -- \"$current\"))",
                                                            Quoted(Join(option->choices(), " "))));
  }
  text += "      esac\n";
  text += fmt::format("      if [[ $current == -* ]]; then COMPREPLY=($(compgen -W {} -- \"$current\"))\n",
                      Quoted(Join(names, " ")));
  text += fmt::format("      else COMPREPLY=($(compgen {}-W {} -- \"$current\")); fi ;;\n",
                      positionals.files ? "-f " : "", Quoted(Join(positionals.words, " ")));
  return text;
}

// Escapes text for an _arguments specification, where brackets and colons are special.
std::string ZshText(std::string text) {
  for (const char* special : {"\\", "[", "]", ":"})
    text = ReplaceAll(text, special, std::string("\\") + special);
  return text;
}

std::string ZshArguments(const Command& command) {
  std::string text = "_arguments -s";
  for (const Option* option : Dashed(command)) {
    for (const std::string& name : option->names()) {
      std::string spec = fmt::format("{}[{}]", name, ZshText(FirstSentence(option->help())));
      if (option->takes_value())
        spec += option->choices().empty() ? ":value:_files"
                                          : fmt::format(":value:({})", Join(option->choices(), " "));
      text += " \\\n        " + Quoted(spec);
    }
  }
  const Positionals positionals = PositionalsOf(command);
  if (!positionals.words.empty())
    text += " \\\n        " + Quoted(fmt::format("*:value:({})", Join(positionals.words, " ")));
  if (positionals.files) text += " \\\n        '*:file:_files'";
  return text;
}

std::string FishOptions(const Command& command, const std::string& condition) {
  std::string text;
  for (const Option* option : Dashed(command)) {
    text += fmt::format("complete -c hone -n {}", Quoted(condition));
    for (const std::string& name : option->names())
      text += StartsWith(name, "--") ? fmt::format(" -l {}", name.substr(2))
                                     : fmt::format(" -s {}", name.substr(1));
    if (option->takes_value())
      text += option->choices().empty() ? " -r -F"
                                        : fmt::format(" -x -a {}", Quoted(Join(option->choices(), " ")));
    text += fmt::format(" -d {}\n", Quoted(FirstSentence(option->help())));
  }
  return text;
}

}  // namespace

std::string BashCompletion(const CommandTable& table) {
  Positionals commands;
  for (const Command* command : Shown(table)) commands.words.push_back(command->name());
  std::string text =
      "# bash completion for hone; load it with: source <(hone completion bash)\n"
      "_hone() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= word\n"
      "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n";
  text += fmt::format("    case $word in {}) command=$word; break ;; esac\n",
                      commands.words.empty() ? "''" : Join(commands.words, "|"));
  text +=
      "  done\n"
      "  case $command in\n"
      "    '')\n" +
      BashBranch(table.root, commands);
  for (const Command* command : Shown(table))
    text += fmt::format("    {})\n", command->name()) + BashBranch(*command, PositionalsOf(*command));
  return text + "  esac\n}\ncomplete -o filenames -F _hone hone\n";
}

std::string ZshCompletion(const CommandTable& table) {
  std::string text =
      "#compdef hone\n"
      "# zsh completion for hone; load it with: source <(hone completion zsh)\n"
      "_hone() {\n"
      "  local -a commands=(\n";
  for (const Command* command : Shown(table))
    text += fmt::format("    {}\n", Quoted(command->name() + ":" +
                                           ReplaceAll(FirstSentence(command->summary()), ":", "\\:")));
  text +=
      "  )\n"
      "  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
      "    _describe 'command' commands\n"
      "    return\n"
      "  fi\n"
      "  case $words[2] in\n";
  for (const Command* command : Shown(table))
    text += fmt::format("    {})\n      shift words; (( CURRENT-- ))\n      {} ;;\n", command->name(),
                        ZshArguments(*command));
  text += fmt::format("    *)\n      {} ;;\n", ZshArguments(table.root));
  return text + "  esac\n}\ncompdef _hone hone\n";
}

std::string FishCompletion(const CommandTable& table) {
  std::string text =
      "# fish completion for hone; load it with: hone completion fish | source\n"
      "complete -c hone -f\n";
  text += FishOptions(table.root, "__fish_use_subcommand");
  for (const Command* command : Shown(table)) {
    text += fmt::format("complete -c hone -n __fish_use_subcommand -a {} -d {}\n", command->name(),
                        Quoted(FirstSentence(command->summary())));
    const std::string condition = "__fish_seen_subcommand_from " + command->name();
    text += FishOptions(*command, condition);
    const Positionals positionals = PositionalsOf(*command);
    if (!positionals.words.empty())
      text += fmt::format("complete -c hone -n {} -a {}\n", Quoted(condition),
                          Quoted(Join(positionals.words, " ")));
    if (positionals.files) text += fmt::format("complete -c hone -n {} -F\n", Quoted(condition));
  }
  return text;
}

void AddCompletionCommand(CommandTable& table) {
  Command& command = table.Add("completion", "Print a completion script for a shell");
  auto shell = std::make_shared<std::string>();
  command.Add("SHELL", shell.get(), "Shell to complete in").Required().OneOf({"bash", "zsh", "fish"});
  command.Example("source <(hone completion bash)", "this shell, now");
  command.Example("hone completion bash > ~/.local/share/bash-completion/completions/hone");
  command.Example("hone completion fish > ~/.config/fish/completions/hone.fish");
  // The table is complete when this runs.
  command.Runs([&table, shell]() -> Result<int> {
    fmt::print("{}", *shell == "bash"  ? BashCompletion(table)
                     : *shell == "zsh" ? ZshCompletion(table)
                                       : FishCompletion(table));
    return 0;
  });
}

}  // namespace hone

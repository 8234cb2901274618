#include "cli/completion_command.h"

#include <fmt/format.h>

#include <memory>

#include "base/text.h"

namespace hone {

namespace {

// CLI11 shows a fixed set as "{a,b,c}" in the type's name; there is no other public way to it.
std::vector<std::string> ChoicesOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t open = type.find('{');
  const size_t close = type.find('}', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos) return {};
  std::vector<std::string> choices = Split(type.substr(open + 1, close - open - 1), ',');
  for (std::string& choice : choices) {
    // A map from names to values reads "name->value".
    choice = std::string(Trim(choice.substr(0, choice.find("->"))));
  }
  return choices;
}

std::string FirstSentence(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  return line.substr(0, line.find(". "));
}

std::vector<std::string> OptionNames(const CompletionCommand& command) {
  std::vector<std::string> names;
  for (const CompletionOption& option : command.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

// A word inside single quotes, in all three shells.
std::string Quoted(const std::string& text) {
  return "'" + ReplaceAll(text, "'", "'\\''") + "'";
}

// The body of one `case $command` branch: what may follow, given the word before and the word so far.
std::string BashBranch(const CompletionCommand& command, const std::vector<std::string>& words, bool files) {
  std::string text = "      case $previous in\n";
  for (const CompletionOption& option : command.options) {
    if (!option.takes_value) continue;
    text += fmt::format("        {}) {}; return ;;\n", Join(option.names, "|"),
                        option.choices.empty() ? "COMPREPLY=($(compgen -f -- \"$current\"))"
                                               : fmt::format("COMPREPLY=($(compgen -W {} -- \"$current\"))",
                                                             Quoted(Join(option.choices, " "))));
  }
  text += "      esac\n";
  text += fmt::format("      if [[ $current == -* ]]; then COMPREPLY=($(compgen -W {} -- \"$current\"))\n",
                      Quoted(Join(OptionNames(command), " ")));
  text += fmt::format("      else COMPREPLY=($(compgen {}-W {} -- \"$current\")); fi ;;\n",
                      files ? "-f " : "", Quoted(Join(words, " ")));
  return text;
}

// Text inside an _arguments specification, where brackets and colons mean something.
std::string ZshText(std::string text) {
  for (const char* special : {"\\", "[", "]", ":"})
    text = ReplaceAll(text, special, std::string("\\") + special);
  return text;
}

std::string ZshArguments(const CompletionCommand& command) {
  std::string text = "_arguments -s";
  for (const CompletionOption& option : command.options) {
    for (const std::string& name : option.names) {
      std::string spec = fmt::format("{}[{}]", name, ZshText(option.description));
      if (option.takes_value) {
        spec +=
            option.choices.empty() ? ":value:_files" : fmt::format(":value:({})", Join(option.choices, " "));
      }
      text += " \\\n        " + Quoted(spec);
    }
  }
  if (!command.choices.empty())
    text += " \\\n        " + Quoted(fmt::format("*:value:({})", Join(command.choices, " ")));
  if (command.takes_files) text += " \\\n        '*:file:_files'";
  return text;
}

std::string FishOptions(const CompletionCommand& command, const std::string& condition) {
  std::string text;
  for (const CompletionOption& option : command.options) {
    text += fmt::format("complete -c hone -n {}", Quoted(condition));
    for (const std::string& name : option.names) {
      text += StartsWith(name, "--") ? fmt::format(" -l {}", name.substr(2))
                                     : fmt::format(" -s {}", name.substr(1));
    }
    if (option.takes_value) {
      text += option.choices.empty() ? " -r -F" : fmt::format(" -x -a {}", Quoted(Join(option.choices, " ")));
    }
    text += fmt::format(" -d {}\n", Quoted(option.description));
  }
  return text;
}

}  // namespace

CompletionCommand DescribeForCompletion(const CLI::App& app) {
  CompletionCommand command;
  command.name = app.get_name();
  command.description = FirstSentence(app.get_description());
  // An empty group hides an option or a command from the help, and so from here.
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    const std::vector<std::string> choices = ChoicesOf(*option);
    if (option->get_positional()) {
      command.choices.insert(command.choices.end(), choices.begin(), choices.end());
      command.takes_files = command.takes_files || choices.empty();
    }
    CompletionOption described;
    for (const std::string& name : option->get_lnames()) described.names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) described.names.push_back("-" + name);
    if (described.names.empty()) continue;
    described.description = FirstSentence(option->get_description());
    described.takes_value = option->get_expected_max() > 0 && option->get_type_size_max() > 0;
    described.choices = choices;
    command.options.push_back(std::move(described));
  }
  for (const CLI::App* child : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!child->get_group().empty() && !child->get_name().empty()) {
      command.commands.push_back(DescribeForCompletion(*child));
    }
  }
  return command;
}

std::string BashCompletion(const CompletionCommand& root) {
  std::vector<std::string> names;
  for (const CompletionCommand& command : root.commands) names.push_back(command.name);
  std::string text =
      "# bash completion for hone; load it with: source <(hone completion bash)\n"
      "_hone() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= word\n"
      "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n";
  text += fmt::format("    case $word in {}) command=$word; break ;; esac\n",
                      names.empty() ? "''" : Join(names, "|"));
  text +=
      "  done\n"
      "  case $command in\n"
      "    '')\n" +
      BashBranch(root, names, false);
  for (const CompletionCommand& command : root.commands) {
    text +=
        fmt::format("    {})\n", command.name) + BashBranch(command, command.choices, command.takes_files);
  }
  return text + "  esac\n}\ncomplete -o filenames -F _hone hone\n";
}

std::string ZshCompletion(const CompletionCommand& root) {
  std::string text =
      "#compdef hone\n"
      "# zsh completion for hone; load it with: source <(hone completion zsh)\n"
      "_hone() {\n"
      "  local -a commands=(\n";
  for (const CompletionCommand& command : root.commands) {
    text += fmt::format("    {}\n", Quoted(command.name + ":" + ReplaceAll(command.description, ":", "\\:")));
  }
  text +=
      "  )\n"
      "  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
      "    _describe 'command' commands\n"
      "    return\n"
      "  fi\n"
      "  case $words[2] in\n";
  for (const CompletionCommand& command : root.commands) {
    text += fmt::format("    {})\n      shift words; (( CURRENT-- ))\n      {} ;;\n", command.name,
                        ZshArguments(command));
  }
  text += fmt::format("    *)\n      {} ;;\n", ZshArguments(root));
  return text + "  esac\n}\ncompdef _hone hone\n";
}

std::string FishCompletion(const CompletionCommand& root) {
  std::string text =
      "# fish completion for hone; load it with: hone completion fish | source\n"
      "complete -c hone -f\n";
  text += FishOptions(root, "__fish_use_subcommand");
  for (const CompletionCommand& command : root.commands) {
    text += fmt::format("complete -c hone -n __fish_use_subcommand -a {} -d {}\n", command.name,
                        Quoted(command.description));
    const std::string condition = "__fish_seen_subcommand_from " + command.name;
    text += FishOptions(command, condition);
    if (!command.choices.empty()) {
      text += fmt::format("complete -c hone -n {} -a {}\n", Quoted(condition),
                          Quoted(Join(command.choices, " ")));
    }
    if (command.takes_files) text += fmt::format("complete -c hone -n {} -F\n", Quoted(condition));
  }
  return text;
}

void AddCompletionCommand(CLI::App& app, int* exit_code) {
  CLI::App* command = app.add_subcommand("completion", "Print a completion script for a shell");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "The shell to complete in")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer(
      "Examples:\n"
      "  source <(hone completion bash)                                this shell, now\n"
      "  hone completion bash > ~/.local/share/bash-completion/completions/hone\n"
      "  hone completion fish > ~/.config/fish/completions/hone.fish");
  command->callback([&app, shell, exit_code] {
    const CompletionCommand root = DescribeForCompletion(app);
    fmt::print("{}", *shell == "bash"  ? BashCompletion(root)
                     : *shell == "zsh" ? ZshCompletion(root)
                                       : FishCompletion(root));
    *exit_code = 0;
  });
}

}  // namespace hone

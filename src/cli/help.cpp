#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace hone {

namespace {

constexpr int kMostColumns = 110;  // longer lines are hard to read
constexpr size_t kMostChoiceColumns = 40;
constexpr int kLabelColumns = 30;  // a longer label gets its own line

// Wraps `text` at `width` columns. All lines but the first begin with `indent` spaces.
std::string Wrap(const std::string& text, int indent, int width) {
  std::string wrapped;
  int column = indent;
  for (const std::string& word : Split(text, ' ')) {
    const int length = static_cast<int>(word.size());
    if (column > indent && column + 1 + length > width) {
      wrapped += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      wrapped += " ";
      ++column;
    }
    wrapped += word;
    column += length;
  }
  return wrapped;
}

// "  --label   text", with the text wrapped into its own column.
std::string Row(const std::string& label, const std::string& text, int label_columns, int width) {
  const int indent = label_columns + 4;
  std::string row = "  " + label;
  if (static_cast<int>(label.size()) > label_columns)
    row += "\n" + std::string(indent, ' ');
  else
    row += std::string(indent - 2 - label.size(), ' ');
  return row + Wrap(text, indent, width) + "\n";
}

// A few choices appear in the label, many of them in the text.
bool ChoicesInLabel(const Option& option) {
  return !option.positional() && Join(option.choices(), "|").size() <= kMostChoiceColumns;
}

std::string LabelOf(const Option& option) {
  std::string label = Join(option.names(), ", ");
  if (option.positional()) return option.is_list() ? label + "..." : label;
  if (!option.takes_value()) return label;
  const bool listed = !option.choices().empty() && ChoicesInLabel(option);
  const std::string value = listed ? Join(option.choices(), "|") : option.placeholder();
  return label + (option.without_value().empty() ? " " + value : " [" + value + "]");
}

// The help, with facts from the table: many choices, the default, excluded options.
std::string TextOf(const Option& option) {
  std::string text = option.help();
  if (!option.choices().empty() && !ChoicesInLabel(option)) text += ": " + Join(option.choices(), ", ");
  const std::string value = option.ValueText();
  const bool unset = value.empty() || value[0] == '-' || value == "0";
  if (option.takes_value() && !unset) text += " (default: " + value + ")";
  if (!option.excludes().empty()) text += " (not with " + option.excludes() + ")";
  return text;
}

std::string OptionRows(const Command& command, bool positional, const std::string& group, int width) {
  std::vector<std::pair<std::string, std::string>> rows;
  size_t longest = 0;
  for (const Option& option : command.options()) {
    if (option.hidden() || option.positional() != positional || option.group() != group) continue;
    rows.emplace_back(LabelOf(option), TextOf(option));
    if (rows.back().first.size() <= kLabelColumns) longest = std::max(longest, rows.back().first.size());
  }
  std::string text;
  for (const auto& [label, help] : rows) text += Row(label, help, static_cast<int>(longest), width);
  return text;
}

std::string UsageLine(const CommandTable& table, const Command& command) {
  std::string usage = fmt::format("Usage: {} {} [OPTIONS]", table.root.name(), command.name());
  for (const Option& option : command.options())
    if (option.positional())
      usage += option.required() ? " " + LabelOf(option) : " [" + LabelOf(option) + "]";
  return usage + "\n";
}

// Notes and examples. An example is followed by its comment.
std::string Ending(const Command& command, int width) {
  std::string text;
  if (!command.notes().empty()) text += "\n";
  for (const std::string& note : command.notes()) text += Wrap(note, 0, width) + "\n";
  if (command.examples().empty()) return text;
  text += "\nExamples:\n";
  size_t longest = 0;
  for (const auto& [line, comment] : command.examples())
    if (!comment.empty()) longest = std::max(longest, line.size());
  for (const auto& [line, comment] : command.examples())
    text += comment.empty() ? fmt::format("  {}\n", line)
                            : fmt::format("  {:<{}}  # {}\n", line, longest, comment);
  return text;
}

}  // namespace

std::string ProgramHelp(const CommandTable& table, int width) {
  width = std::min(width, kMostColumns);
  std::string text = Wrap(table.root.summary(), 0, width) + "\n\n";
  text += fmt::format("Usage: {} COMMAND [OPTIONS]\n\nCommands:\n", table.root.name());
  size_t longest = 0;
  for (const Command& command : table.commands) longest = std::max(longest, command.name().size());
  for (const Command& command : table.commands)
    if (!command.hidden()) text += Row(command.name(), command.summary(), static_cast<int>(longest), width);
  text += "\nOptions:\n" + OptionRows(table.root, false, "", width);
  return text + Ending(table.root, width);
}

std::string CommandHelp(const CommandTable& table, const Command& command, int width) {
  width = std::min(width, kMostColumns);
  std::string text = Wrap(command.summary(), 0, width) + "\n\n" + UsageLine(table, command);
  const std::string arguments = OptionRows(command, true, "", width);
  if (!arguments.empty()) text += "\nArguments:\n" + arguments;
  std::vector<std::string> groups;
  for (const Option& option : command.options())
    if (!option.hidden() && std::find(groups.begin(), groups.end(), option.group()) == groups.end())
      groups.push_back(option.group());
  for (const std::string& group : groups)
    text += fmt::format("\n{}\n{}", Wrap((group.empty() ? "Options" : group) + ":", 0, width),
                        OptionRows(command, false, group, width));
  return text + Ending(command, width);
}

}  // namespace hone

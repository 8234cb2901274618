// The command line as a table: a command has options, and each option sets one field of the command's flags.
// Help, shell completion, hone.toml and the HONE_* variables all use this table, and command_line.cpp passes
// it to the parser. This file does not depend on the parser.
//
//   command.Add("--trials", &flags->trials, "Number of test cases with fresh seeds").Between(5, 1000);
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"

namespace hone {

class Option {
 public:
  // The destination of the value. Empty if the option requests a text (--help, --version).
  using Field =
      std::variant<std::monostate, bool*, int*, int64_t*, double*, std::string*, std::vector<std::string>*>;
  // Returns why a value is invalid, or an empty string.
  using Check = std::string (*)(const std::string& value);

  // `names` is "-q,--quiet", "--json" or, for a positional argument, "TASK".
  Option(const std::string& names, Field field, std::string help);

  Option& Required();
  Option& OneOf(std::vector<std::string> choices);
  Option& Between(double least, double most);
  Option& AtLeast(double least) { return Between(least, std::numeric_limits<double>::infinity()); }
  Option& Positive();
  Option& CheckedBy(Check check);
  Option& SplitAt(char separator);          // one word may hold several values of a list
  Option& Times(int fewest, int most);      // number of values of a positional list
  Option& WithoutValue(std::string value);  // without a value, the option means `value`
  Option& Excludes(std::string other);      // "--json": the two exclude each other
  Option& Placeholder(std::string word);    // "FILE" in the help
  Option& Group(std::string heading);       // its heading in the help
  Option& Hidden();                         // neither in the help nor in completion

  // Checks the words and sets the field. On an Error the field keeps its value.
  Status Assign(const std::vector<std::string>& words);
  // The field's value, which the help shows as the default before the command line is parsed.
  std::string ValueText() const;
  // Of a list, one by one.
  std::vector<std::string> values() const;

  const std::vector<std::string>& names() const { return names_; }
  // "--quiet" for "-q,--quiet", or the name of a positional argument.
  const std::string& name() const { return names_.back(); }
  const std::string& help() const { return help_; }
  const std::string& group() const { return group_; }
  const std::string& excludes() const { return excludes_; }
  const std::string& placeholder() const { return placeholder_; }
  const std::string& without_value() const { return without_value_; }
  const std::vector<std::string>& choices() const { return choices_; }
  bool positional() const { return names_[0][0] != '-'; }
  bool is_text() const { return std::holds_alternative<std::monostate>(field_); }
  bool is_flag() const { return std::holds_alternative<bool*>(field_); }
  bool is_list() const { return std::holds_alternative<std::vector<std::string>*>(field_); }
  bool takes_value() const { return !is_text() && !is_flag(); }
  bool required() const { return required_; }
  bool hidden() const { return hidden_; }
  char separator() const { return separator_; }
  int fewest() const { return fewest_; }
  int most() const { return most_; }
  bool on() const { return is_flag() && *std::get<bool*>(field_); }

  // True if it was on the command line, as opposed to a file or a variable.
  bool given() const { return given_; }
  void MarkGiven() { given_ = true; }

 private:
  Status CheckValue(const std::string& value) const;
  Status CheckRange(double value) const;

  std::vector<std::string> names_;
  Field field_;
  std::string help_, group_, excludes_, placeholder_, without_value_;
  std::vector<std::string> choices_;
  double least_ = -std::numeric_limits<double>::infinity();
  double most_value_ = std::numeric_limits<double>::infinity();
  bool positive_ = false;
  Check check_ = nullptr;
  char separator_ = 0;
  int fewest_ = 1, most_ = 1;
  bool required_ = false, hidden_ = false, given_ = false;
};

class Command {
 public:
  Command(std::string name, std::string summary);

  Option& Add(const std::string& names, Option::Field field, std::string help);
  Command& Note(std::string sentence);  // printed below the options
  Command& Example(std::string line, std::string comment = "");
  Command& Hidden();
  void Runs(std::function<Result<int>()> action) { action_ = std::move(action); }
  // Runs the command and returns the exit code.
  Result<int> Run() const { return action_(); }

  const std::string& name() const { return name_; }
  const std::string& summary() const { return summary_; }
  const std::deque<Option>& options() const { return options_; }
  std::deque<Option>& options() { return options_; }
  const std::vector<std::string>& notes() const { return notes_; }
  const std::vector<std::pair<std::string, std::string>>& examples() const { return examples_; }
  bool hidden() const { return hidden_; }
  // The option with the name "--json", or nullptr.
  const Option* Find(const std::string& name) const;
  bool Given(const std::string& name) const;
  bool WantsJson() const;

 private:
  std::string name_, summary_;
  std::deque<Option> options_;  // callers keep references while the table grows
  std::vector<std::string> notes_;
  std::vector<std::pair<std::string, std::string>> examples_;
  std::function<Result<int>()> action_;
  bool hidden_ = false;
};

// `root` is the program itself: its summary, its notes and --version.
class CommandTable {
 public:
  CommandTable(std::string program, std::string summary) : root(std::move(program), std::move(summary)) {}
  CommandTable(const CommandTable&) = delete;
  CommandTable& operator=(const CommandTable&) = delete;

  Command& Add(std::string name, std::string summary) {
    return commands.emplace_back(std::move(name), std::move(summary));
  }

  Command root;
  std::deque<Command> commands;
};

}  // namespace hone

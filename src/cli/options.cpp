#include "cli/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace hone {

namespace {

Error UsageError(std::string message) {
  return Error{ErrorKind::kUsage, std::move(message)};
}

std::string NumberText(double value) {
  return fmt::format("{}", value);
}

Result<bool> ParseBool(const std::string& text) {
  const std::string word = ToLower(text);
  for (const char* yes : {"true", "1", "yes", "on"})
    if (word == yes) return true;
  for (const char* no : {"false", "0", "no", "off"})
    if (word == no) return false;
  return UsageError(fmt::format("'{}' is neither true nor false", text));
}

template <class Integer>
Result<Integer> ParseInteger(const std::string& text) {
  Integer value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc::result_out_of_range) return UsageError(fmt::format("{} is too large", text));
  if (code != std::errc() || end != text.data() + text.size())
    return UsageError(fmt::format("'{}' is not a whole number", text));
  return value;
}

Result<double> ParseDouble(const std::string& text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value != value)
    return UsageError(fmt::format("'{}' is not a number", text));
  return value;
}

}  // namespace

Option::Option(const std::string& names, Field field, std::string help)
    : names_(Split(names, ',')), field_(field), help_(std::move(help)) {
  if (is_list()) most_ = std::numeric_limits<int>::max();
  if (std::holds_alternative<int*>(field_) || std::holds_alternative<int64_t*>(field_)) placeholder_ = "N";
  if (std::holds_alternative<double*>(field_)) placeholder_ = "NUMBER";
  if (std::holds_alternative<std::string*>(field_) || is_list()) placeholder_ = "TEXT";
}

Option& Option::Required() {
  required_ = true;
  return *this;
}

Option& Option::OneOf(std::vector<std::string> choices) {
  choices_ = std::move(choices);
  return *this;
}

Option& Option::Between(double least, double most) {
  least_ = least;
  most_value_ = most;
  return *this;
}

Option& Option::Positive() {
  positive_ = true;
  return *this;
}

Option& Option::CheckedBy(Check check) {
  check_ = check;
  return *this;
}

Option& Option::SplitAt(char separator) {
  separator_ = separator;
  return *this;
}

Option& Option::Times(int fewest, int most) {
  fewest_ = fewest;
  most_ = most;
  return *this;
}

Option& Option::WithoutValue(std::string value) {
  without_value_ = std::move(value);
  return *this;
}

Option& Option::Excludes(std::string other) {
  excludes_ = std::move(other);
  return *this;
}

Option& Option::Placeholder(std::string word) {
  placeholder_ = std::move(word);
  return *this;
}

Option& Option::Group(std::string heading) {
  group_ = std::move(heading);
  return *this;
}

Option& Option::Hidden() {
  hidden_ = true;
  return *this;
}

Status Option::CheckValue(const std::string& value) const {
  if (!choices_.empty() && std::find(choices_.begin(), choices_.end(), value) == choices_.end())
    return UsageError(fmt::format("'{}' is not one of {}", value, Join(choices_, ", ")));
  if (check_ != nullptr) {
    std::string wrong = check_(value);
    if (!wrong.empty()) return UsageError(std::move(wrong));
  }
  return Ok();
}

// Checks that a number is in the option's range. `value` has been parsed as a number before.
Status Option::CheckRange(double value) const {
  if (positive_ && !(value > 0)) return UsageError(fmt::format("{} is not more than 0", NumberText(value)));
  if (value >= least_ && value <= most_value_) return Ok();
  if (most_value_ == std::numeric_limits<double>::infinity())
    return UsageError(fmt::format("{} is less than {}", NumberText(value), NumberText(least_)));
  return UsageError(fmt::format("{} is not between {} and {}", NumberText(value), NumberText(least_),
                                NumberText(most_value_)));
}

Status Option::Assign(const std::vector<std::string>& words) {
  std::vector<std::string> values;
  for (const std::string& word : words) {
    if (separator_ == 0)
      values.push_back(word);
    else
      for (std::string& part : Split(word, separator_)) values.push_back(std::move(part));
  }
  for (const std::string& value : values) HONE_RETURN_IF_ERROR(CheckValue(value));
  if (auto** list = std::get_if<std::vector<std::string>*>(&field_)) {
    const int count = static_cast<int>(values.size());
    if (count < fewest_ || count > most_)
      return UsageError(fmt::format(
          "{} values where {} are needed", count,
          count < fewest_ ? fmt::format("at least {}", fewest_) : fmt::format("at most {}", most_)));
    **list = std::move(values);
    return Ok();
  }
  if (values.size() != 1) return UsageError("it takes one value");
  const std::string& value = values[0];
  if (auto** flag = std::get_if<bool*>(&field_)) {
    HONE_ASSIGN_OR_RETURN(**flag, ParseBool(value));
  } else if (auto** text = std::get_if<std::string*>(&field_)) {
    **text = value;
  } else if (auto** real = std::get_if<double*>(&field_)) {
    HONE_ASSIGN_OR_RETURN(const double number, ParseDouble(value));
    HONE_RETURN_IF_ERROR(CheckRange(number));
    **real = number;
  } else if (auto** small = std::get_if<int*>(&field_)) {
    HONE_ASSIGN_OR_RETURN(const int number, ParseInteger<int>(value));
    HONE_RETURN_IF_ERROR(CheckRange(number));
    **small = number;
  } else if (auto** large = std::get_if<int64_t*>(&field_)) {
    HONE_ASSIGN_OR_RETURN(const int64_t number, ParseInteger<int64_t>(value));
    HONE_RETURN_IF_ERROR(CheckRange(static_cast<double>(number)));
    **large = number;
  }
  return Ok();
}

std::string Option::ValueText() const {
  struct Writer {
    std::string operator()(std::monostate) const { return ""; }
    std::string operator()(const bool* flag) const { return *flag ? "true" : ""; }
    std::string operator()(const int* number) const { return std::to_string(*number); }
    std::string operator()(const int64_t* number) const { return std::to_string(*number); }
    std::string operator()(const double* number) const { return NumberText(*number); }
    std::string operator()(const std::string* text) const { return *text; }
    std::string operator()(const std::vector<std::string>* list) const { return Join(*list, ","); }
  };
  return std::visit(Writer(), field_);
}

std::vector<std::string> Option::values() const {
  return is_list() ? *std::get<std::vector<std::string>*>(field_) : std::vector<std::string>();
}

Command::Command(std::string name, std::string summary)
    : name_(std::move(name)), summary_(std::move(summary)) {
  Add("-h,--help", std::monostate(), "Print this help and exit");
}

Option& Command::Add(const std::string& names, Option::Field field, std::string help) {
  return options_.emplace_back(names, field, std::move(help));
}

Command& Command::Note(std::string sentence) {
  notes_.push_back(std::move(sentence));
  return *this;
}

Command& Command::Example(std::string line, std::string comment) {
  examples_.emplace_back(std::move(line), std::move(comment));
  return *this;
}

Command& Command::Hidden() {
  hidden_ = true;
  return *this;
}

const Option* Command::Find(const std::string& name) const {
  for (const Option& option : options_)
    if (std::find(option.names().begin(), option.names().end(), name) != option.names().end()) return &option;
  return nullptr;
}

bool Command::Given(const std::string& name) const {
  const Option* option = Find(name);
  return option != nullptr && option->given();
}

bool Command::WantsJson() const {
  const Option* json = Find("--json");
  return json != nullptr && json->on();
}

}  // namespace hone

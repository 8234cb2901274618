// What a person's terminal can show: whether to colour, how wide it is, and the few styles Hone uses.
// Without colour every style returns its text unchanged, so that printing code never asks twice.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace hone {

// The stream is a terminal that understands escapes, and NO_COLOR is unset or empty (no-color.org).
bool UseColour(FILE* stream);
// A terminal of any kind: progress lines may be redrawn in place.
bool IsTerminal(FILE* stream);
// Columns of the terminal behind stderr or stdout, else $COLUMNS, else 80; never below 20.
int TerminalWidth();

class Style {
 public:
  explicit Style(bool colour) : colour_(colour) {}
  explicit Style(FILE* stream) : colour_(UseColour(stream)) {}

  bool colour() const { return colour_; }
  std::string Bold(std::string_view text) const { return Wrap("1", text); }
  std::string Dim(std::string_view text) const { return Wrap("2", text); }
  std::string Red(std::string_view text) const { return Wrap("31", text); }
  std::string Green(std::string_view text) const { return Wrap("32", text); }
  std::string Yellow(std::string_view text) const { return Wrap("33", text); }

 private:
  std::string Wrap(std::string_view code, std::string_view text) const;
  bool colour_;
};

}  // namespace hone

// What a terminal can show: whether it has colours, how wide it is, and the few styles that Hone uses.
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
// Columns for what is printed to the stream: those of its terminal, else $COLUMNS, else 120. Never below 20.
int PrintWidth(FILE* stream);

constexpr int kWidthWithoutTerminal = 120;

class Style {
 public:
  explicit Style(bool colour, int width = kWidthWithoutTerminal, bool terminal = false)
      : colour_(colour), width_(width), terminal_(terminal) {}
  explicit Style(FILE* stream)
      : colour_(UseColour(stream)), width_(PrintWidth(stream)), terminal_(IsTerminal(stream)) {}

  bool colour() const { return colour_; }
  // How wide tables may be, and where sentences are wrapped: in a pipe and in a file as on a terminal.
  int width() const { return width_; }
  // A line of progress is cut at the width of a terminal. In a log it is whole.
  bool terminal() const { return terminal_; }
  std::string Bold(std::string_view text) const { return Wrap("1", text); }
  std::string Dim(std::string_view text) const { return Wrap("2", text); }
  std::string Red(std::string_view text) const { return Wrap("31", text); }
  std::string Green(std::string_view text) const { return Wrap("32", text); }
  std::string Yellow(std::string_view text) const { return Wrap("33", text); }

 private:
  std::string Wrap(std::string_view code, std::string_view text) const;
  bool colour_;
  int width_;
  bool terminal_ = false;
};

}  // namespace hone

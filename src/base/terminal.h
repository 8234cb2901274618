// What a terminal can show: colours, its width, and the few styles that Hone uses. Without colour every style
// returns its text unchanged, so that printing code needs no second check.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace hone {

// True if the stream is a terminal with escape sequences and NO_COLOR is unset or empty (no-color.org).
bool UseColour(FILE* stream);
// True for a terminal of any kind, where progress lines can be redrawn in place.
bool IsTerminal(FILE* stream);
// Columns of the terminal behind stderr or stdout, else $COLUMNS, else 80. At least 20.
int TerminalWidth();
// Columns for output on the stream: those of its terminal, else $COLUMNS, else 120. At least 20.
int PrintWidth(FILE* stream);

constexpr int kWidthWithoutTerminal = 120;

class Style {
 public:
  explicit Style(bool colour, int width = kWidthWithoutTerminal, bool terminal = false)
      : colour_(colour), width_(width), terminal_(terminal) {}
  explicit Style(FILE* stream)
      : colour_(UseColour(stream)), width_(PrintWidth(stream)), terminal_(IsTerminal(stream)) {}

  bool colour() const { return colour_; }
  // The width of tables and wrapped sentences. It is the same for a pipe, a file and a terminal.
  int width() const { return width_; }
  // True on a terminal, where progress lines are cut to its width. A log gets whole lines.
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

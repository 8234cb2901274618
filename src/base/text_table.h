// The one printer of tables for terminals. It knows how wide the terminal is: what does not fit is wrapped in
// its column first; then the least important columns are left out, with a note that names them; then words
// are broken. Every table has a header.
#pragma once

#include <string>
#include <vector>

#include "base/terminal.h"

namespace hone {

struct TableColumn {
  std::string header;
  // 0: always shown. Otherwise the column with the highest number is left out first.
  int leave_out = 0;
  // The narrowest that the column is made by wrapping at spaces; 0: its cells stay on one line.
  int least_width = 0;
  bool right = false;  // flush right, for numbers
};

enum class Tone { kPlain, kGood, kBad, kNeutral, kStrong };
struct TableCell {
  TableCell(std::string text = "", Tone tone = Tone::kPlain) : text(std::move(text)), tone(tone) {}
  TableCell(const char* text) : text(text) {}
  std::string text;
  Tone tone = Tone::kPlain;
};

struct TextTable {
  std::vector<TableColumn> columns;
  std::vector<std::vector<TableCell>> rows;
  // Said below a table that lost columns; {0} stands for their names.
  std::string left_out_note = "Not shown at this width: {0}.";
};

// Lines of at most `width` columns, each with its line end. Cells are made safe to show.
std::string PrintTable(const TextTable& table, int width, const Style& style);
// As wide as the stream that the style is for.
std::string PrintTable(const TextTable& table, const Style& style);

}  // namespace hone

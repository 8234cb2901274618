// Prints every table on a terminal. A table that is too wide is first wrapped within its columns. Then the
// least important columns are left out, with a note that names them. Then words are broken. Every table has a
// header.
#pragma once

#include <string>
#include <vector>

#include "base/terminal.h"

namespace hone {

struct TableColumn {
  std::string header;
  // 0: the column is always shown. Otherwise the column with the highest number is left out first.
  int leave_out = 0;
  // The minimum width to which the column is wrapped at spaces. 0: its cells stay on one line.
  int least_width = 0;
  bool right = false;  // right-aligned, for numbers
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
  // The note below a table without some of its columns. {0} stands for their names.
  std::string left_out_note = "Not shown at this width: {0}.";
};

// Prints lines of at most `width` columns, each with a line end. Makes the cells safe to print.
std::string PrintTable(const TextTable& table, int width, const Style& style);
// Uses the width of the stream that the style is for.
std::string PrintTable(const TextTable& table, const Style& style);

}  // namespace hone

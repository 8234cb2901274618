// Text in terminal columns: its width, and its line breaks. Chinese, Japanese and Korean characters take two
// columns and may break anywhere. Other text breaks at spaces. A word that is longer than a line breaks
// between the parts of a name (after one of ./:_-,=), else anywhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

// Number of terminal columns that the text takes.
int DisplayWidth(std::string_view text);
// Returns at least one line. No line is wider than `width`, which is at least 2.
std::vector<std::string> WrapText(std::string_view text, int width);
// Puts `indent` spaces before every line but the first. The text fits into `width` columns if the first line
// starts at column `indent`.
std::string WrapIndented(std::string_view text, int indent, int width);

}  // namespace hone

// Text in columns of a terminal: how wide it is, and how it breaks into lines. Chinese, Japanese and Korean
// characters are two columns wide and may break anywhere; other text breaks at spaces. A word that is too
// long for a line breaks between the parts of a name (after one of ./:_-,=), or else anywhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

// Columns of a terminal that the text takes.
int DisplayWidth(std::string_view text);
// At least one line, none wider than `width` (which is at least 2).
std::vector<std::string> WrapText(std::string_view text, int width);
// The text with `indent` spaces before every line but the first, wrapped so that all of it fits into `width`
// columns when the first line starts at column `indent`.
std::string WrapIndented(std::string_view text, int indent, int width);

}  // namespace hone

// A diff of two texts with the line numbers of both, for pages (base/diff.h computes it): a candidate and its
// parent, or a candidate and the best.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

struct NumberedLine {
  char kind = ' ';  // ' ' in both, '-' only in before, '+' only in after, '@' a gap
  int before = 0;   // line numbers from 1; 0: not in that text
  int after = 0;
  std::string text;  // for a gap: number of omitted lines
};

std::vector<NumberedLine> NumberedDiff(std::string_view before, std::string_view after);
// Returns only changes with `context` lines around them, and gaps in between. Empty if the texts are equal.
std::vector<NumberedLine> ShortDiff(std::string_view before, std::string_view after, int context = 3);

}  // namespace hone

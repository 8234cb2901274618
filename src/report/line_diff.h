// What changed between two texts, line by line (Myers' O(ND) search, bounded): for parents and children in a
// lineage, and for the best against the rest. Past the bound the middle is shown as replaced: never wrong,
// only less fine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

struct DiffLine {
  char kind = ' ';  // ' ' in both, '-' only before, '+' only after, '@' a gap
  int before = 0;   // line numbers from 1; 0: not in that text
  int after = 0;
  std::string text;  // of a gap: how many lines are left out
};

std::vector<DiffLine> DiffLines(std::string_view before, std::string_view after);
// Only changes with `context` lines around them, and gaps in between; empty when the texts are the same.
std::vector<DiffLine> ShortDiff(std::string_view before, std::string_view after, int context = 3);

}  // namespace hone

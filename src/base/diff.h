// The difference between two texts, line by line, as `diff -u` writes it (Myers' shortest edit script). Texts
// may be hostile: where they have too little in common to be worth the search, what is left is taken as
// replaced.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

struct DiffLine {
  char sign = ' ';  // ' ', '-' or '+'
  std::string text;
};
// Every line of both texts, in order: the shortest script, unless it has more than `most_edits`.
std::vector<DiffLine> DiffLines(std::string_view before, std::string_view after, int most_edits = 2000);

struct UnifiedDiff {
  std::string text;        // empty when the texts are the same
  int lines_left_out = 0;  // of the diff, beyond `most_lines`
};
UnifiedDiff MakeUnifiedDiff(std::string_view before, std::string_view after, std::string_view before_name,
                            std::string_view after_name, int most_lines = 200, int context = 3);

}  // namespace hone

// The difference between two texts, line by line, as `diff -u` writes it (Myers' shortest edit script). Texts
// may be hostile: if they differ so much that the search would take too long, the rest counts as replaced.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

struct DiffLine {
  char sign = ' ';  // ' ', '-' or '+'
  std::string text;
};
// Returns every line of both texts in order. The script is the shortest one unless it has over `most_edits`
// edits.
std::vector<DiffLine> DiffLines(std::string_view before, std::string_view after, int most_edits = 2000);

struct UnifiedDiff {
  std::string text;        // empty when the texts are the same
  int lines_left_out = 0;  // lines of the diff beyond `most_lines`
};
UnifiedDiff MakeUnifiedDiff(std::string_view before, std::string_view after, std::string_view before_name,
                            std::string_view after_name, int most_lines = 200, int context = 3);

}  // namespace hone

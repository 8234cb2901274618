#include "report/line_diff.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/diff.h"

namespace hone {

std::vector<NumberedLine> NumberedDiff(std::string_view before, std::string_view after) {
  std::vector<NumberedLine> lines;
  int old_line = 0;
  int new_line = 0;
  for (DiffLine& line : DiffLines(before, after)) {
    if (line.sign != '+') ++old_line;
    if (line.sign != '-') ++new_line;
    lines.push_back(
        {line.sign, line.sign == '+' ? 0 : old_line, line.sign == '-' ? 0 : new_line, std::move(line.text)});
  }
  return lines;
}

std::vector<NumberedLine> ShortDiff(std::string_view before, std::string_view after, int context) {
  const std::vector<NumberedLine> all = NumberedDiff(before, after);
  const int count = static_cast<int>(all.size());
  std::vector<bool> kept(all.size(), false);
  for (int i = 0; i < count; ++i)
    if (all[i].kind != ' ')
      for (int j = std::max(0, i - context); j <= std::min(count - 1, i + context); ++j) kept[j] = true;
  std::vector<NumberedLine> lines;
  if (std::none_of(kept.begin(), kept.end(), [](bool keep) { return keep; })) return lines;
  for (int i = 0; i < count;) {
    if (kept[i]) {
      lines.push_back(all[i++]);
      continue;
    }
    const int start = i;
    while (i < count && !kept[i]) ++i;
    lines.push_back({'@', 0, 0, fmt::format("{} unchanged lines", i - start)});
  }
  return lines;
}

}  // namespace hone

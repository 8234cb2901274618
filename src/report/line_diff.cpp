#include "report/line_diff.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace hone {

namespace {

// Beyond this many differing lines the search costs more than its fineness is worth.
constexpr int kMostEdits = 1500;

// For each line of `a` the line of `b` it is matched with, or -1.
std::vector<int> Match(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const int n = static_cast<int>(a.size());
  const int m = static_cast<int>(b.size());
  std::vector<int> match(a.size(), -1);
  int head = 0;
  while (head < n && head < m && a[head] == b[head]) {
    match[head] = head;
    ++head;
  }
  int tail = 0;
  while (tail < n - head && tail < m - head && a[n - 1 - tail] == b[m - 1 - tail]) {
    match[n - 1 - tail] = m - 1 - tail;
    ++tail;
  }
  const int rows = n - head - tail;
  const int columns = m - head - tail;
  const int most = std::min(rows + columns, kMostEdits);
  // furthest[d][k + d]: the furthest row on diagonal k after d edits.
  std::vector<std::vector<int>> furthest;
  bool done = rows == 0 || columns == 0;
  int edits = 0;
  for (int d = 0; !done && d <= most; ++d) {
    std::vector<int> row(2 * d + 1, 0);
    for (int k = -d; k <= d && !done; k += 2) {
      int x = 0;
      if (d > 0) {
        const std::vector<int>& last = furthest.back();
        const auto at = [&](int diagonal) {
          return diagonal < -(d - 1) || diagonal > d - 1 ? -1 : last[diagonal + d - 1];
        };
        x = k == -d || (k != d && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
      }
      int y = x - k;
      while (x < rows && y < columns && y >= 0 && a[head + x] == b[head + y]) {
        ++x;
        ++y;
      }
      row[k + d] = x;
      if (x >= rows && y >= columns) {
        done = true;
        edits = d;
      }
    }
    furthest.push_back(std::move(row));
  }
  if (!done || rows == 0 || columns == 0) return match;
  int x = rows;
  int y = columns;
  for (int d = edits; d > 0; --d) {
    const std::vector<int>& last = furthest[d - 1];
    const auto at = [&](int diagonal) {
      return diagonal < -(d - 1) || diagonal > d - 1 ? -1 : last[diagonal + d - 1];
    };
    const int k = x - y;
    const bool down = k == -d || (k != d && at(k - 1) < at(k + 1));
    const int from_x = down ? at(k + 1) : at(k - 1);
    const int from_y = from_x - (down ? k + 1 : k - 1);
    while (x > from_x + (down ? 0 : 1) && y > from_y + (down ? 1 : 0)) {
      --x;
      --y;
      match[head + x] = head + y;
    }
    x = from_x;
    y = from_y;
  }
  while (x > 0 && y > 0) {
    --x;
    --y;
    match[head + x] = head + y;
  }
  return match;
}

}  // namespace

std::vector<DiffLine> DiffLines(std::string_view before, std::string_view after) {
  const std::vector<std::string> a = Lines(before);
  const std::vector<std::string> b = Lines(after);
  const std::vector<int> match = Match(a, b);
  std::vector<DiffLine> lines;
  int next = 0;
  const auto added = [&](int until) {
    for (; next < until; ++next) lines.push_back({'+', 0, next + 1, b[next]});
  };
  for (int i = 0; i < static_cast<int>(a.size()); ++i) {
    if (match[i] < 0) {
      lines.push_back({'-', i + 1, 0, a[i]});
      continue;
    }
    added(match[i]);
    lines.push_back({' ', i + 1, match[i] + 1, a[i]});
    next = match[i] + 1;
  }
  added(static_cast<int>(b.size()));
  return lines;
}

std::vector<DiffLine> ShortDiff(std::string_view before, std::string_view after, int context) {
  const std::vector<DiffLine> all = DiffLines(before, after);
  const int count = static_cast<int>(all.size());
  std::vector<bool> kept(all.size(), false);
  for (int i = 0; i < count; ++i)
    if (all[i].kind != ' ')
      for (int j = std::max(0, i - context); j <= std::min(count - 1, i + context); ++j) kept[j] = true;
  std::vector<DiffLine> lines;
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

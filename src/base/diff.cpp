#include "base/diff.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace hone {

namespace {

using LineList = std::vector<std::string>;

// Appends the edit script from before[begin_a, end_a) to after[begin_b, end_b). Myers, "An O(ND) difference
// algorithm": finds the furthest point on every diagonal for each number of edits, then walks back through
// the stored points.
void Script(const LineList& before, const LineList& after, int begin_a, int end_a, int begin_b, int end_b,
            int most_edits, std::vector<DiffLine>* out) {
  const int n = end_a - begin_a;
  const int m = end_b - begin_b;
  const int most = std::min(n + m, most_edits);
  std::vector<std::vector<int>> reached;  // reached[d][k + d]: x on diagonal k after d edits
  bool found = n + m == 0;
  for (int d = 0; d <= most && !found; ++d) {
    std::vector<int> now(static_cast<size_t>(2 * d + 1), -1);
    for (int k = -d; k <= d; k += 2) {
      const auto before_at = [&](int diagonal) {
        return reached.back()[static_cast<size_t>(diagonal + d - 1)];
      };
      int x = 0;
      if (d > 0) {
        const bool down = k == -d || (k != d && before_at(k - 1) < before_at(k + 1));
        x = down ? before_at(k + 1) : before_at(k - 1) + 1;
      }
      int y = x - k;
      while (x < n && y < m && x >= 0 && y >= 0 &&
             before[static_cast<size_t>(begin_a + x)] == after[static_cast<size_t>(begin_b + y)]) {
        ++x;
        ++y;
      }
      now[static_cast<size_t>(k + d)] = x;
      found = found || (x >= n && y >= m && k == n - m);
    }
    reached.push_back(std::move(now));
  }
  if (!found) {
    for (int i = begin_a; i < end_a; ++i) out->push_back({'-', before[static_cast<size_t>(i)]});
    for (int i = begin_b; i < end_b; ++i) out->push_back({'+', after[static_cast<size_t>(i)]});
    return;
  }
  std::vector<DiffLine> backwards;
  int x = n;
  int y = m;
  for (int d = static_cast<int>(reached.size()) - 1; d >= 0; --d) {
    const int k = x - y;
    int from_x = 0;
    int from_y = 0;
    bool down = false;
    if (d > 0) {
      const std::vector<int>& last = reached[static_cast<size_t>(d - 1)];
      const auto at = [&](int diagonal) { return last[static_cast<size_t>(diagonal + d - 1)]; };
      down = k == -d || (k != d && at(k - 1) < at(k + 1));
      from_x = down ? at(k + 1) : at(k - 1);
      from_y = from_x - (down ? k + 1 : k - 1);
    }
    const int edited_x = d == 0 ? 0 : down ? from_x : from_x + 1;
    while (x > edited_x) {
      backwards.push_back({' ', before[static_cast<size_t>(begin_a + x - 1)]});
      --x;
      --y;
    }
    if (d > 0)
      backwards.push_back(down ? DiffLine{'+', after[static_cast<size_t>(begin_b + from_y)]}
                               : DiffLine{'-', before[static_cast<size_t>(begin_a + from_x)]});
    x = from_x;
    y = from_y;
  }
  out->insert(out->end(), backwards.rbegin(), backwards.rend());
}

// Prints a range as `diff` does: "12,3", "12" for one line, "11,0" for no line after line 11.
std::string Range(int first, int count) {
  if (count == 1) return fmt::format("{}", first);
  return fmt::format("{},{}", count == 0 ? first - 1 : first, count);
}

}  // namespace

std::vector<DiffLine> DiffLines(std::string_view before, std::string_view after, int most_edits) {
  const LineList a = Lines(before);
  const LineList b = Lines(after);
  const int n = static_cast<int>(a.size());
  const int m = static_cast<int>(b.size());
  int head = 0;
  while (head < n && head < m && a[static_cast<size_t>(head)] == b[static_cast<size_t>(head)]) ++head;
  int tail = 0;
  while (tail < n - head && tail < m - head &&
         a[static_cast<size_t>(n - 1 - tail)] == b[static_cast<size_t>(m - 1 - tail)])
    ++tail;
  std::vector<DiffLine> out;
  for (int i = 0; i < head; ++i) out.push_back({' ', a[static_cast<size_t>(i)]});
  Script(a, b, head, n - tail, head, m - tail, most_edits, &out);
  for (int i = n - tail; i < n; ++i) out.push_back({' ', a[static_cast<size_t>(i)]});
  return out;
}

UnifiedDiff MakeUnifiedDiff(std::string_view before, std::string_view after, std::string_view before_name,
                            std::string_view after_name, int most_lines, int context) {
  const std::vector<DiffLine> lines = DiffLines(before, after);
  const int count = static_cast<int>(lines.size());
  std::vector<std::string> out;
  int line_a = 1;
  int line_b = 1;
  int at = 0;
  while (at < count) {
    int first = at;
    while (first < count && lines[static_cast<size_t>(first)].sign == ' ') ++first;
    if (first == count) break;
    const int begin = std::max(at, first - context);
    line_a += begin - at;
    line_b += begin - at;
    // The hunk continues while the next change is at most two contexts away.
    int end = first;
    int same = 0;
    for (int i = first; i < count && same <= 2 * context; ++i) {
      same = lines[static_cast<size_t>(i)].sign == ' ' ? same + 1 : 0;
      if (same == 0) end = i + 1;
    }
    end = std::min(count, end + context);
    int count_a = 0;
    int count_b = 0;
    std::vector<std::string> hunk;
    for (int i = begin; i < end; ++i) {
      const DiffLine& line = lines[static_cast<size_t>(i)];
      count_a += line.sign != '+' ? 1 : 0;
      count_b += line.sign != '-' ? 1 : 0;
      hunk.push_back(line.sign + line.text);
    }
    out.push_back(fmt::format("@@ -{} +{} @@", Range(line_a, count_a), Range(line_b, count_b)));
    out.insert(out.end(), hunk.begin(), hunk.end());
    line_a += count_a;
    line_b += count_b;
    at = end;
  }
  UnifiedDiff diff;
  if (out.empty()) return diff;
  if (static_cast<int>(out.size()) > most_lines) {
    diff.lines_left_out = static_cast<int>(out.size()) - most_lines;
    out.resize(static_cast<size_t>(most_lines));
  }
  diff.text = fmt::format("--- {}\n+++ {}\n{}\n", before_name, after_name, Join(out, "\n"));
  return diff;
}

}  // namespace hone

#include "base/text_table.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/text.h"
#include "base/text_wrap.h"

namespace hone {

namespace {

constexpr int kIndent = 2;
constexpr int kGap = 2;
// The minimum width of a column in which words are broken. Narrower text is unreadable.
constexpr int kNarrowest = 4;

std::string Shown(const std::string& text) {
  return SafeForTerminal(ReplaceAll(ReplaceAll(text, "\n", " "), "\t", " "));
}

std::string Coloured(const std::string& text, Tone tone, const Style& style) {
  switch (tone) {
    case Tone::kGood:
      return style.Green(text);
    case Tone::kBad:
      return style.Red(text);
    case Tone::kNeutral:
      return style.Yellow(text);
    case Tone::kStrong:
      return style.Bold(text);
    default:
      return text;
  }
}

class Printer {
 public:
  Printer(const TextTable& table, int width, const Style& style)
      : table_(table), width_(width), style_(style), shown_(table.columns.size()) {
    std::iota(shown_.begin(), shown_.end(), size_t{0});
    for (size_t i = 0; i < table.columns.size(); ++i) {
      int widest = DisplayWidth(Shown(table.columns[i].header));
      for (const auto& row : table.rows)
        if (i < row.size()) widest = std::max(widest, DisplayWidth(Shown(row[i].text)));
      widths_.push_back(widest);
    }
  }

  std::string Print() {
    Fit();
    std::string out = Row([&](size_t i) { return TableCell(table_.columns[i].header, Tone::kStrong); });
    for (const auto& row : table_.rows)
      out += Row([&](size_t i) { return i < row.size() ? row[i] : TableCell(); });
    if (!left_out_.empty()) {
      std::vector<std::string> names;
      for (const size_t i : left_out_) names.push_back(table_.columns[i].header);
      const std::string note = ReplaceAll(table_.left_out_note, "{0}", Join(names, ", "));
      out += std::string(kIndent, ' ') + style_.Dim(WrapIndented(Shown(note), kIndent, width_)) + "\n";
    }
    return out;
  }

 private:
  int Total() const {
    int total = kIndent + kGap * (static_cast<int>(shown_.size()) - 1);
    for (const size_t i : shown_) total += widths_[i];
    return total;
  }

  // Narrows the widest column that may shrink by one terminal column, repeatedly.
  template <class Least>
  void Narrow(Least least) {
    while (Total() > width_) {
      size_t widest = widths_.size();
      for (const size_t i : shown_)
        if (widths_[i] > least(i) && (widest == widths_.size() || widths_[i] > widths_[widest])) widest = i;
      if (widest == widths_.size()) return;
      --widths_[widest];
    }
  }

  int LeastByWrapping(size_t i) const {
    const int least = table_.columns[i].least_width;
    return least == 0 ? widths_[i] : std::max(least, DisplayWidth(Shown(table_.columns[i].header)));
  }

  void Fit() {
    const std::vector<int> natural = widths_;
    while (true) {
      widths_ = natural;
      Narrow([&](size_t i) { return LeastByWrapping(i); });
      if (Total() <= width_) break;
      size_t least = shown_.size();
      for (size_t k = 0; k < shown_.size(); ++k) {
        const int order = table_.columns[shown_[k]].leave_out;
        if (order > 0 && (least == shown_.size() || order > table_.columns[shown_[least]].leave_out))
          least = k;
      }
      if (least == shown_.size()) break;
      left_out_.insert(shown_[least]);
      shown_.erase(shown_.begin() + static_cast<std::ptrdiff_t>(least));
    }
    Narrow([](size_t) { return kNarrowest; });
  }

  template <class CellAt>
  std::string Row(CellAt cell_at) {
    std::vector<std::vector<std::string>> lines;
    size_t height = 1;
    for (const size_t i : shown_) {
      lines.push_back(WrapText(Shown(cell_at(i).text), widths_[i]));
      height = std::max(height, lines.back().size());
    }
    std::string out;
    for (size_t line = 0; line < height; ++line) {
      std::string text(kIndent, ' ');
      size_t pending = 0;  // spaces are written only if text follows them
      for (size_t k = 0; k < shown_.size(); ++k) {
        const size_t i = shown_[k];
        const std::string part = line < lines[k].size() ? lines[k][line] : "";
        const auto room = static_cast<size_t>(std::max(0, widths_[i] - DisplayWidth(part)));
        const bool right = table_.columns[i].right;
        if (!part.empty()) {
          text += std::string(pending + (right ? room : 0), ' ') + Coloured(part, cell_at(i).tone, style_);
          pending = right ? 0 : room;
        } else {
          pending += room;
        }
        pending += kGap;
      }
      out += text + "\n";
    }
    return out;
  }

  const TextTable& table_;
  const int width_;
  const Style& style_;
  std::vector<size_t> shown_;  // indices of shown columns
  std::vector<int> widths_;
  std::set<size_t> left_out_;  // indices of columns left out
};

}  // namespace

std::string PrintTable(const TextTable& table, int width, const Style& style) {
  return Printer(table, width, style).Print();
}

std::string PrintTable(const TextTable& table, const Style& style) {
  return PrintTable(table, style.width(), style);
}

}  // namespace hone

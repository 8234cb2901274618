#include "report/plots/row_canvas.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "verdict/reasons.h"

namespace hone {

namespace {

constexpr double kRow = 24;
constexpr double kNarrowRow = 40;
constexpr double kHeading = 26;
constexpr double kAxis = 44;  // space for ticks and title below the rows
constexpr double kTopOfRows = 22;
constexpr double kLetter = 7.3;  // width of a letter in pixels
constexpr double kFigureLetter = 6.7;

size_t Letters(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

double Height(const std::vector<CanvasRow>& rows, bool wide) {
  double height = kTopOfRows + kAxis;
  std::string group;
  for (const CanvasRow& row : rows) {
    if (!row.group.empty() && row.group != group) height += kHeading;
    group = row.group;
    height += wide ? kRow : kNarrowRow;
  }
  return height;
}

}  // namespace

RowCanvas::RowCanvas(const Plot& plot, PlotWidth width, const std::vector<CanvasRow>& rows)
    : rows_(rows),
      wide_(width == PlotWidth::kWide),
      svg_(plot.id + (width == PlotWidth::kWide ? "-wide" : "-narrow"), PixelsOf(width),
           Height(rows, width == PlotWidth::kWide), plot.title, plot.description) {
  size_t label = 4;
  size_t figure = 0;
  for (const CanvasRow& row : rows_) {
    label = std::max(label, Letters(row.label));
    figure = std::max(figure, Letters(wide_ ? row.figure : row.short_figure));
  }
  const double figures = std::max(12.0, static_cast<double>(figure) * kFigureLetter + 14);
  left_ = wide_ ? std::min(static_cast<double>(label) * kLetter + 14, PixelsOf(width) * 0.34) : 16;
  right_ = wide_ ? PixelsOf(width) - figures : PixelsOf(width) - 16;
  most_letters_ = static_cast<size_t>((wide_ ? left_ - 10 : PixelsOf(width) - figures) / kLetter);
  top_ = kTopOfRows;
  double y = kTopOfRows;
  std::string group;
  for (const CanvasRow& row : rows_) {
    if (!row.group.empty() && row.group != group) {
      headings_.emplace_back(y + kHeading - 8, row.group);
      y += kHeading;
    }
    group = row.group;
    label_y_.push_back(y + 16);
    y_.push_back(wide_ ? y + kRow / 2 : y + 28);
    y += wide_ ? kRow : kNarrowRow;
  }
  bottom_ = y + 2;
}

void RowCanvas::Frame(const Axis& axis, const std::string& title) {
  svg_.BottomAxis(axis, top_, bottom_, title);
  for (const auto& [y, heading] : headings_) {
    svg_.Line(0, y + 5, svg_.width(), y + 5, "heading-line");
    svg_.Text(0, y, heading, "heading");
  }
  for (size_t i = 0; i < rows_.size(); ++i) {
    const std::string strong = rows_[i].strong ? " strong" : "";
    svg_.Text(0, label_y_[i], Shortened(rows_[i].label, most_letters_), "label" + strong);
    const std::string& figure = wide_ ? rows_[i].figure : rows_[i].short_figure;
    if (!figure.empty()) svg_.Text(svg_.width(), label_y_[i], figure, "figure" + strong, Anchor::kEnd);
  }
}

void RowCanvas::Rule(double x, const std::string& word, const std::string& classes) {
  svg_.Line(x, top_ - 4, x, bottom_, classes);
  const bool near_end = x > (left_ + right_) / 2;
  svg_.Text(x, top_ - 9, word, "rule-word", near_end ? Anchor::kEnd : Anchor::kStart);
}

std::string ToneOf(const CandidateFigure& candidate) {
  if (candidate.best) return "best";
  if (candidate.verdict == NameOf(Decision::kAccepted)) return "ok";
  if (candidate.verdict.empty() || candidate.unknown()) return "open";
  return candidate.right() ? "same" : "bad";
}

std::string TimesSign(double ratio) {
  return ratio >= 100 ? fmt::format("{:.0f}\u00d7", ratio) : fmt::format("{:.2f}\u00d7", ratio);
}

std::string TimesSign(const std::optional<double>& ratio) {
  return ratio ? TimesSign(*ratio) : "-";
}

std::string Microseconds(double us) {
  return ReplaceAll(HumanSeconds(us * 1e-6), " us", " \u00b5s");
}

}  // namespace hone

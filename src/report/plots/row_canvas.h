// The frame that most plots share: one row per candidate, task or baseline, with its name on the left, a
// horizontal scale, and a figure at the right end. Rows may be grouped under headings. The drawing grows
// downwards, so that it also fits a phone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/plots/plots.h"
#include "report/svg.h"

namespace hone {

struct CanvasRow {
  std::string label;
  std::string group;   // a heading is drawn where it changes; empty: none
  std::string figure;  // at the right end of wide drawings
  std::string short_figure;
  bool strong = false;
};

class RowCanvas {
 public:
  RowCanvas(const Plot& plot, PlotWidth width, const std::vector<CanvasRow>& rows);

  Svg& svg() { return svg_; }
  double left() const { return left_; }
  double right() const { return right_; }
  double top() const { return top_; }
  double bottom() const { return bottom_; }
  double Y(size_t row) const { return y_[row]; }
  // Draws the scale below all rows, then names, headings and figures.
  void Frame(const Axis& axis, const std::string& title);
  // A vertical line through all rows with a word above it.
  void Rule(double x, const std::string& word, const std::string& classes = "rule");

 private:
  std::vector<CanvasRow> rows_;
  std::vector<double> y_;
  std::vector<double> label_y_;
  std::vector<std::pair<double, std::string>> headings_;
  bool wide_;
  size_t most_letters_ = 0;  // length of the longest name
  double left_, right_, top_, bottom_;
  Svg svg_;
};

// Colour class of a candidate: "best", "ok", "same" (right, not faster), "bad" or "open".
std::string ToneOf(const CandidateFigure& candidate);
// The limit of rows in a drawing; the table has all.
constexpr size_t kMostRows = 80;
// Above this ratio of its ends, a scale is logarithmic.
constexpr double kWideRange = 3;
// Margins of a plot with two scales.
constexpr double kTop = 34;
constexpr double kBottom = 46;
constexpr double kLeft = 52;
// "2.31x" for users.
std::string TimesSign(double ratio);
// The same for a mean; "-" if there is none.
std::string TimesSign(const std::optional<double>& ratio);
// "3.2 us".
std::string Microseconds(double us);

// Adds the drawings of `draw(width)` for both widths to the plot.
template <class Draw>
void DrawBoth(Plot* plot, const Draw& draw) {
  plot->drawings = {draw(PlotWidth::kWide), draw(PlotWidth::kNarrow)};
}

}  // namespace hone

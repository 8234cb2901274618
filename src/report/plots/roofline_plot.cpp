// The roofline: the rate that this device can reach at the task's arithmetic intensity, and the rates of the
// PyTorch baselines and of every candidate. All of them do the same task, so all points have the same x.
// Their names are at the side, joined by thin lines.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/plots/row_canvas.h"

namespace hone {

namespace {

constexpr double kLabelStep = 15;
constexpr size_t kMostPoints = 14;  // points with a name; the rest are marks only

struct Point {
  std::string name;
  std::string tone;
  MarkShape shape = MarkShape::kDot;
  double us = 0;
  bool strong = false;
  double rate(double flops) const { return flops / (us * 1e-6); }
};

// The floor first, then by speed, so that names go down as rates do.
std::vector<Point> PointsOf(const RunFigures& run) {
  std::vector<Point> points;
  for (const RungFigure& rung : run.ladder)
    if (rung.us > 0) points.push_back({rung.name, "rung", MarkShape::kSquare, rung.us, false});
  for (const CandidateFigure& one : run.candidates)
    if (one.timed() && one.us > 0)
      points.push_back(
          {one.key, ToneOf(one), one.right() ? MarkShape::kDot : MarkShape::kRing, one.us, one.best});
  std::stable_sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.us < b.us; });
  points.insert(points.begin(), {"floor", "floor", MarkShape::kDiamond, run.floor_us, false});
  return points;
}

// The points with a name: the floor, the baselines, the best, then the fastest.
std::vector<size_t> Named(const std::vector<Point>& points) {
  std::vector<size_t> named;
  for (size_t i = 0; i < points.size(); ++i)
    if (points[i].tone == "floor" || points[i].tone == "rung" || points[i].strong) named.push_back(i);
  for (size_t i = 0; i < points.size() && named.size() < kMostPoints; ++i)
    if (std::find(named.begin(), named.end(), i) == named.end()) named.push_back(i);
  std::sort(named.begin(), named.end());
  if (named.size() > kMostPoints) named.resize(kMostPoints);
  return named;
}

// Label positions that keep their order and a distance, as close to their points as possible.
std::vector<double> Spread(std::vector<double> y, double top, double bottom) {
  for (size_t i = 0; i < y.size(); ++i) y[i] = std::max(y[i], i == 0 ? top : y[i - 1] + kLabelStep);
  for (size_t i = y.size(); i-- > 0;)
    y[i] = std::min(y[i], i + 1 == y.size() ? bottom : y[i + 1] - kLabelStep);
  return y;
}

void DrawRoof(Svg* svg, const RunFigures& run, const Axis& x, const Axis& y, bool wide) {
  const double flops = run.ceiling_flops_per_s;
  const double bytes = run.ceiling_bytes_per_s;
  const double ridge = flops > 0 && bytes > 0 ? flops / bytes : 0;
  std::vector<std::pair<double, double>> line;
  const double start = std::max(x.low(), y.low() / std::max(bytes, 1e-300));
  if (bytes > 0 && (ridge == 0 || start < ridge)) {
    const double end = ridge > 0 ? std::min(ridge, x.high()) : x.high();
    line.emplace_back(x.At(start), y.At(bytes * start));
    line.emplace_back(x.At(end), y.At(bytes * end));
  }
  if (flops > 0) {
    if (line.empty()) line.emplace_back(x.At(x.low()), y.At(flops));
    line.emplace_back(x.At(x.high()), y.At(flops));
  }
  svg->Path(line, "roof");
  if (!wide) return;  // not enough space for words
  if (flops > 0)
    svg->Text(x.to() - 4, y.At(flops) - 7, fmt::format("arithmetic {}FLOP/s, measured", ShortNumber(flops)),
              "rule-word", Anchor::kEnd);
  if (bytes > 0 && line.size() > 1)
    svg->Text((line[0].first + line[1].first) / 2 + 8, (line[0].second + line[1].second) / 2 + 12,
              fmt::format("memory {}B/s, measured", ShortNumber(bytes)), "rule-word");
}

std::string Percent(double share) {
  return share < 0.1 ? fmt::format("{:.2g}%", 100 * share) : fmt::format("{:.0f}%", 100 * share);
}

Svg Draw(const Plot& plot, const RunFigures& run, const std::vector<Point>& points, PlotWidth width) {
  const bool wide = width == PlotWidth::kWide;
  const std::vector<size_t> named = Named(points);
  const double height =
      std::max(wide ? 400.0 : 340.0, kTop + kBottom + 24 + kLabelStep * static_cast<double>(named.size()));
  Svg svg(plot.id + (wide ? "-wide" : "-narrow"), PixelsOf(width), height, plot.title, plot.description);
  const double intensity = run.flops / run.least_bytes;
  const double ridge = run.ceiling_bytes_per_s > 0 ? run.ceiling_flops_per_s / run.ceiling_bytes_per_s : 0;
  double low = points[0].rate(run.flops);
  double high = std::max(low, run.ceiling_flops_per_s);
  for (const Point& point : points) low = std::min(low, point.rate(run.flops));
  const double names = wide ? 250 : 186;
  const Axis x = Axis::Log(std::min(intensity, ridge > 0 ? ridge : intensity) / 4,
                           std::max(intensity, ridge) * 4, kLeft, PixelsOf(width) - names);
  const Axis y = Axis::Log(low / 1.5, high * 1.5, height - kBottom, kTop);
  svg.BottomAxis(x, y.to(), y.from(), wide ? "FLOP per byte moved (log)" : "FLOP / byte (log)");
  svg.LeftAxis(y, x.from(), x.to(), "FLOP/s (log)");
  DrawRoof(&svg, run, x, y, wide);
  const double at = x.At(intensity);
  svg.Line(at, y.to(), at, y.from(), "rule");
  std::vector<double> heights;
  for (const size_t i : named) heights.push_back(y.At(points[i].rate(run.flops)));
  heights = Spread(heights, kTop + 4, height - kBottom);
  const double aside = x.to() + 14;
  for (size_t k = 0; k < named.size(); ++k) {
    const Point& point = points[named[k]];
    svg.Path({{at + 7, y.At(point.rate(run.flops))}, {x.to() + 2, heights[k]}, {aside - 3, heights[k]}},
             "leader");
    const std::string share = Percent(run.floor_us / point.us);
    const size_t letters = static_cast<size_t>((names - 16 - 40) / 6.8);
    svg.Text(aside, heights[k] + 4, Shortened(point.name, letters), point.strong ? "label strong" : "label");
    svg.Text(PixelsOf(width), heights[k] + 4, share, point.strong ? "figure strong" : "figure", Anchor::kEnd);
  }
  for (size_t i = points.size(); i-- > 0;)
    svg.Mark(points[i].shape, at, y.At(points[i].rate(run.flops)), points[i].strong ? 5 : 4, points[i].tone,
             fmt::format("{}: {}FLOP/s, {} per call", points[i].name, ShortNumber(points[i].rate(run.flops)),
                         Microseconds(points[i].us)));
  return svg;
}

}  // namespace

std::optional<Plot> RooflinePlot(const RunFigures& run) {
  if (!(run.flops > 0) || !(run.least_bytes > 0) || !(run.floor_us > 0)) return std::nullopt;
  const std::vector<Point> points = PointsOf(run);
  if (points.size() < 2) return std::nullopt;
  Plot plot;
  plot.id = "roofline";
  plot.title = "Roofline";
  plot.description = fmt::format(
      "The task does {} FLOP and moves at least {}, which is {} FLOP per byte. The roof is the rate that "
      "this "
      "device reaches at each intensity. The floor lies on it ({} bound). Percentages are of the floor's "
      "rate.",
      ShortNumber(run.flops), HumanBytes(run.least_bytes), ShortNumber(run.flops / run.least_bytes),
      run.floor_bound);
  plot.description += run.DriftNote();
  plot.legend = {{"floor diamond", "floor"}, {"rung square", "PyTorch"},      {"best", "best"},
                 {"ok", "accepted"},         {"same", "correct, not faster"}, {"bad ring", "rejected"}};
  plot.columns = {"point", "time per call", "FLOP/s", "of the floor's rate"};
  for (const Point& point : points)
    plot.rows.push_back({point.name, Microseconds(point.us), ShortNumber(point.rate(run.flops)),
                         Percent(run.floor_us / point.us)});
  DrawBoth(&plot, [&](PlotWidth width) { return Draw(plot, run, points, width); });
  return plot;
}

}  // namespace hone

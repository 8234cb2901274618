// All timing rounds of one candidate's contest: a dot per round, the median as a line. It shows two modes,
// drift and outliers, which a single number hides.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/escape.h"
#include "report/plots/row_canvas.h"

namespace hone {

namespace {

Svg Draw(const Plot& plot, const CandidateFigure& candidate, PlotWidth width) {
  std::vector<CanvasRow> rows;
  double low = 0;
  double high = 0;
  for (const TimingFigure& one : candidate.timings) {
    rows.push_back(
        {one.name, "", Microseconds(one.median_us), Microseconds(one.median_us), one.name == "candidate"});
    for (const double us : one.round_us) {
      low = low == 0 ? us : std::min(low, us);
      high = std::max(high, us);
    }
  }
  RowCanvas canvas(plot, width, rows);
  const double unit = high >= 1000 ? 1000 : 1;
  const bool log = low > 0 && high / low > 6;
  const double pad = 0.03 * (high - low);
  const Axis axis =
      log ? Axis::Log(low / unit * 0.97, high / unit * 1.03, canvas.left(), canvas.right())
          : Axis::Linear(std::max(0.0, low - pad) / unit, (high + pad) / unit, canvas.left(), canvas.right());
  canvas.Frame(axis, fmt::format("{} per call{}", unit > 1 ? "ms" : "\u00b5s", log ? " (log)" : ""));
  for (size_t i = 0; i < candidate.timings.size(); ++i) {
    const TimingFigure& one = candidate.timings[i];
    const std::string tone = one.name == "candidate" ? "ok" : "rung";
    for (size_t j = 0; j < one.round_us.size(); ++j) {
      // Rounds are drawn in order from top to bottom, so that drift appears as a slope.
      const double offset =
          one.round_us.size() < 2
              ? 0
              : 14.0 * (static_cast<double>(j) / static_cast<double>(one.round_us.size() - 1) - 0.5);
      canvas.svg().Mark(MarkShape::kDot, axis.At(one.round_us[j] / unit), canvas.Y(i) + offset, 2.2,
                        "faint " + tone);
    }
    canvas.svg().Line(axis.At(one.median_us / unit), canvas.Y(i) - 10, axis.At(one.median_us / unit),
                      canvas.Y(i) + 10, "median " + tone);
  }
  return canvas.svg();
}

}  // namespace

std::optional<Plot> TimingDistributionPlot(const CandidateFigure& candidate) {
  const bool any = std::any_of(candidate.timings.begin(), candidate.timings.end(),
                               [](const TimingFigure& one) { return !one.round_us.empty(); });
  if (!any) return std::nullopt;
  Plot plot;
  plot.id = AnchorOf("rounds-", candidate.key);
  plot.title = "Time of every round";
  plot.description =
      "The candidate and the PyTorch baselines were timed in turns. Each dot is a round, the first at the "
      "top "
      "of its row. The line is the median.";
  plot.legend = {{"ok", "candidate"}, {"rung", "PyTorch"}};
  plot.columns = {"timed", "median", "fastest", "slowest", "rounds"};
  for (const TimingFigure& one : candidate.timings) {
    const auto [least, most] = std::minmax_element(one.round_us.begin(), one.round_us.end());
    plot.rows.push_back(
        {one.name, Microseconds(one.median_us), one.round_us.empty() ? "" : Microseconds(*least),
         one.round_us.empty() ? "" : Microseconds(*most), std::to_string(one.round_us.size())});
  }
  DrawBoth(&plot, [&](PlotWidth width) { return Draw(plot, candidate, width); });
  return plot;
}

}  // namespace hone

// Speed-up of each candidate: one row per candidate in the order of the run, the estimate with its 95%
// interval, and a line at 1x. A candidate that was not timed shows the reason instead of a mark.
#include <fmt/format.h>

#include <algorithm>

#include "report/plots/row_canvas.h"

namespace hone {

namespace {

struct Range {
  double low = 1;
  double high = 1;
};

Range RangeOf(const std::vector<CandidateFigure>& shown) {
  Range range;
  for (const CandidateFigure& one : shown)
    if (one.timed()) {
      range.low = std::min({range.low, one.vs_best, one.low > 0 ? one.low : one.vs_best});
      range.high = std::max({range.high, one.vs_best, one.high});
    }
  return range;
}

std::string IntervalText(const CandidateFigure& one) {
  return fmt::format("{} [{:.2f}, {:.2f}]", TimesSign(one.vs_best), one.low, one.high);
}

std::string Why(const CandidateFigure& one) {
  return one.verdict.empty() ? "not judged" : one.reason;
}

Svg Draw(const Plot& plot, const std::vector<CandidateFigure>& shown, PlotWidth width) {
  std::vector<CanvasRow> rows;
  for (const CandidateFigure& one : shown)
    rows.push_back({one.key, one.phase, one.timed() ? IntervalText(one) : "",
                    one.timed() ? TimesSign(one.vs_best) : "", one.best});
  RowCanvas canvas(plot, width, rows);
  const Range range = RangeOf(shown);
  const bool log = range.high / range.low > kWideRange;
  Axis axis =
      log ? Axis::Log(range.low * 0.95, range.high * 1.05, canvas.left(), canvas.right())
          : Axis::Linear(std::max(0.0, range.low - 0.1), range.high + 0.1, canvas.left(), canvas.right());
  axis.SetUnit("\u00d7");
  canvas.Frame(axis, log ? "speed-up against the best PyTorch baseline (log)"
                         : "speed-up against the best PyTorch baseline");
  canvas.Rule(axis.At(1), "as fast as PyTorch");
  for (size_t i = 0; i < shown.size(); ++i) {
    const CandidateFigure& one = shown[i];
    const double y = canvas.Y(i);
    if (!one.timed()) {
      canvas.svg().Mark(MarkShape::kCross, canvas.left() + 5, y, 4, ToneOf(one), one.key);
      canvas.svg().Text(canvas.left() + 16, y + 4, Why(one), "note");
      continue;
    }
    canvas.svg().Interval(axis.At(one.low), axis.At(one.high), y, ToneOf(one));
    canvas.svg().Mark(one.right() ? MarkShape::kDot : MarkShape::kRing, axis.At(one.vs_best), y, 4.5,
                      ToneOf(one), one.key + ": " + IntervalText(one));
  }
  return canvas.svg();
}

}  // namespace

std::optional<Plot> SpeedupPlot(const RunFigures& run) {
  if (run.candidates.empty()) return std::nullopt;
  Plot plot;
  plot.id = "speedup";
  plot.title = "Speed-up over candidates";
  const size_t count = std::min(run.candidates.size(), kMostRows);
  const std::vector<CandidateFigure> shown(run.candidates.begin(),
                                           run.candidates.begin() + static_cast<std::ptrdiff_t>(count));
  plot.description =
      "Each row is a candidate, in the order of the run, grouped by phase. The mark is its speed-up against "
      "the fastest PyTorch baseline, and the line through it is the 95% interval.";
  if (count < run.candidates.size())
    plot.description +=
        fmt::format(" The first {} of {} are drawn; the table has all.", count, run.candidates.size());
  plot.legend = {{"best", "best"}, {"ok", "accepted"}, {"same", "correct, not faster"}, {"bad", "rejected"}};
  plot.columns = {"candidate", "phase", "verdict", "reason", "speed-up", "95% low", "95% high", "vs eager"};
  for (const CandidateFigure& one : run.candidates)
    plot.rows.push_back(
        {one.key, one.phase, one.verdict.empty() ? "not judged" : one.verdict, one.reason,
         one.timed() ? TimesSign(one.vs_best) : "", one.timed() ? fmt::format("{:.3f}", one.low) : "",
         one.timed() ? fmt::format("{:.3f}", one.high) : "", one.timed() ? TimesSign(one.vs_eager) : ""});
  DrawBoth(&plot, [&](PlotWidth width) { return Draw(plot, shown, width); });
  return plot;
}

}  // namespace hone

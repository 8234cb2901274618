// The speed-ups of a suite, task by task: a bar from 1x, with the 95% interval of the best candidate. A task
// without an accepted candidate stays at 1x. A task that failed or tried nothing has a cross and no bar.
#include <fmt/format.h>

#include <algorithm>

#include "report/plots/row_canvas.h"
#include "store/run_result.h"

namespace hone {

namespace {

struct TaskBar {
  std::string task;
  bool won = false;
  double vs_best = 1;
  double low = 0;
  double high = 0;
  std::string result;  // see store/run_result.h

  // A run without a finding has no bar: "PyTorch kept" is a finding, a failure is not.
  bool drawn() const { return CountsInMeans(result); }
};

std::string Text(const TaskBar& bar, bool wide) {
  if (!bar.won) return ResultWords(bar.result);
  if (!wide || bar.low <= 0) return TimesSign(bar.vs_best);
  return fmt::format("{} [{:.2f}, {:.2f}]", TimesSign(bar.vs_best), bar.low, bar.high);
}

Svg Draw(const Plot& plot, const std::vector<TaskBar>& bars, double mean, PlotWidth width) {
  std::vector<CanvasRow> rows;
  double low = 1;
  double high = 1.2;
  for (const TaskBar& bar : bars) {
    rows.push_back({bar.task, "", Text(bar, true), Text(bar, false), false});
    low = std::min(low, bar.vs_best);
    high = std::max({high, bar.vs_best, bar.high});
  }
  RowCanvas canvas(plot, width, rows);
  const bool log = high > 4;
  Axis axis = log ? Axis::Log(low * 0.95, high * 1.05, canvas.left(), canvas.right())
                  : Axis::Linear(std::min(low, 0.9), high, canvas.left(), canvas.right());
  axis.SetUnit("\u00d7");
  canvas.Frame(axis, log ? "speed-up against the best PyTorch baseline (log)"
                         : "speed-up against the best PyTorch baseline");
  canvas.Rule(axis.At(1), "");
  if (mean > 1.005)
    canvas.Rule(axis.At(mean), fmt::format("geometric mean {}", TimesSign(mean)), "rule mean");
  for (size_t i = 0; i < bars.size(); ++i) {
    const double y = canvas.Y(i);
    if (!bars[i].drawn()) {
      canvas.svg().Mark(MarkShape::kCross, canvas.left() + 5, y, 4,
                        bars[i].result == kRunFailed ? "bad" : "same",
                        bars[i].task + ": " + Text(bars[i], true));
      continue;
    }
    const double from = std::min(axis.At(1), axis.At(bars[i].vs_best));
    const double to = std::max(axis.At(1), axis.At(bars[i].vs_best));
    canvas.svg().Rect(from, y - 6, std::max(to - from, 1.0), 12, bars[i].won ? "bar ok" : "bar same",
                      bars[i].task + ": " + Text(bars[i], true));
    if (bars[i].won && bars[i].low > 0)
      canvas.svg().Interval(axis.At(bars[i].low), axis.At(bars[i].high), y, "ink");
  }
  return canvas.svg();
}

}  // namespace

std::optional<Plot> SuitePlot(const SuiteSummary& suite) {
  if (suite.rows.empty()) return std::nullopt;
  std::vector<TaskBar> bars;
  Plot plot;
  plot.columns = {"task", "best or result", "speed-up", "95% low", "95% high", "vs eager"};
  for (const SuiteRow& row : suite.rows) {
    TaskBar bar{row.run.task, row.run.result == kAccepted, 1, 0, 0, row.run.result};
    if (bar.won) {
      bar.vs_best = row.run.vs_best;
      bar.low = row.ci_low;
      bar.high = row.ci_high;
    }
    plot.rows.push_back(
        {bar.task, bar.won ? row.run.best_key : ResultWords(bar.result),
         bar.drawn() ? TimesSign(bar.vs_best) : "", bar.low > 0 ? fmt::format("{:.3f}", bar.low) : "",
         bar.low > 0 ? fmt::format("{:.3f}", bar.high) : "", bar.won ? TimesSign(row.run.vs_eager) : ""});
    bars.push_back(std::move(bar));
  }
  plot.id = "suite";
  plot.title = "Speed-up task by task";
  plot.description =
      "Each bar is a task: the best accepted candidate against the fastest PyTorch baseline, with its 95% "
      "interval. A task without an accepted candidate has a bar of 1\u00d7 and counts as 1\u00d7 in the "
      "mean. "
      "A cross marks a task that failed, tried nothing or is not finished; it is not in the mean.";
  plot.legend = {{"ok", "accepted candidate"}, {"same", "nothing accepted"}, {"bad", "failed"}};
  if (bars.size() > kMostRows) {
    plot.description +=
        fmt::format(" The first {} of {} are drawn; the table has all.", kMostRows, bars.size());
    bars.resize(kMostRows);
  }
  DrawBoth(&plot,
           [&](PlotWidth width) { return Draw(plot, bars, suite.geomean_vs_best.value_or(1), width); });
  return plot;
}

}  // namespace hone

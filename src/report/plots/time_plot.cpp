// The time of a call, compared with the floor and the PyTorch baselines. For a recurrent task it is the time
// per dependent step, because such a kernel can only shorten that. Bars are split if there is a profile: the
// candidate's own kernels, library kernels, and the rest (launches, waiting, the host).
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/plots/row_canvas.h"

namespace hone {

namespace {

struct Bar {
  std::string label;
  std::string group;
  std::string tone;
  double us = 0;
  double own_us = 0;  // own_us + library_us is at most `us`; both are 0 without a profile
  double library_us = 0;
  bool strong = false;
};

std::vector<Bar> BarsOf(const RunFigures& run) {
  std::vector<Bar> bars;
  if (run.floor_us > 0) bars.push_back({"floor", "this device", "floor", run.floor_us, 0, 0, false});
  for (const RungFigure& rung : run.ladder)
    bars.push_back({rung.name, "PyTorch", "rung", rung.us, 0, 0, false});
  std::vector<const CandidateFigure*> timed;
  for (const CandidateFigure& one : run.candidates)
    if (one.timed() && one.us > 0) timed.push_back(&one);
  std::stable_sort(timed.begin(), timed.end(),
                   [](const CandidateFigure* a, const CandidateFigure* b) { return a->us < b->us; });
  for (const CandidateFigure* one : timed) {
    Bar bar{one->key, "candidates, the fastest first", ToneOf(*one), one->us, 0, 0, one->best};
    // A profiled call runs slower than a timed one. A split that exceeds the time is not drawn.
    if (one->own_us + one->library_us <= one->us) {
      bar.own_us = one->own_us;
      bar.library_us = one->library_us;
    }
    bars.push_back(bar);
  }
  return bars;
}

Svg Draw(const Plot& plot, const std::vector<Bar>& bars, double steps, bool per_step, PlotWidth width) {
  std::vector<CanvasRow> rows;
  double high = 0;
  for (const Bar& bar : bars) {
    const std::string text = Microseconds(bar.us / steps);
    rows.push_back({bar.label, bar.group, text, text, bar.strong});
    high = std::max(high, bar.us / steps);
  }
  RowCanvas canvas(plot, width, rows);
  const double unit = high >= 1000 ? 1000 : 1;  // milliseconds from this value on
  const Axis axis = Axis::Linear(0, high / unit, canvas.left(), canvas.right());
  canvas.Frame(
      axis, fmt::format("{} {}", unit > 1 ? "ms" : "\u00b5s", per_step ? "per dependent step" : "per call"));
  for (size_t i = 0; i < bars.size(); ++i) {
    const Bar& bar = bars[i];
    const double y = canvas.Y(i) - 6;
    const auto x = [&](double us) { return axis.At(us / steps / unit); };
    const std::string tooltip = bar.label + ": " + Microseconds(bar.us / steps);
    if (bar.own_us + bar.library_us > 0) {
      canvas.svg().Rect(x(0), y, x(bar.own_us) - x(0), 12, "bar " + bar.tone,
                        "own kernels: " + Microseconds(bar.own_us / steps));
      canvas.svg().Rect(x(bar.own_us), y, x(bar.own_us + bar.library_us) - x(bar.own_us), 12, "bar library",
                        "library kernels: " + Microseconds(bar.library_us / steps));
      canvas.svg().Rect(x(bar.own_us + bar.library_us), y, x(bar.us) - x(bar.own_us + bar.library_us), 12,
                        "bar rest",
                        "no kernel: " + Microseconds((bar.us - bar.own_us - bar.library_us) / steps));
    } else {
      canvas.svg().Rect(x(0), y, std::max(x(bar.us) - x(0), 1.0), 12, "bar " + bar.tone, tooltip);
    }
  }
  return canvas.svg();
}

}  // namespace

std::optional<Plot> TimePlot(const RunFigures& run) {
  std::vector<Bar> bars = BarsOf(run);
  const bool any = std::any_of(bars.begin(), bars.end(), [](const Bar& bar) { return bar.tone != "floor"; });
  if (!any) return std::nullopt;
  const bool per_step = run.recurrent && run.serial_chain > 0;
  const double steps = per_step ? static_cast<double>(run.serial_chain) : 1;
  Plot plot;
  plot.id = "time";
  plot.title = per_step ? "Time per step" : "Time per call";
  plot.description =
      per_step ? fmt::format(
                     "Time of one call divided by the {} dependent steps of the task, for the "
                     "floor, the PyTorch baselines and every timed candidate.",
                     run.serial_chain)
               : "Time of one call, for the floor, the PyTorch baselines and every timed candidate.";
  if (run.floor_us > 0)
    plot.description +=
        fmt::format(" The floor is the least time that this device could need ({} bound).", run.floor_bound);
  if (!run.ladder_beside.empty())
    plot.description += fmt::format(" The baselines were timed together with {}.", run.ladder_beside);
  plot.description += run.DriftNote();
  const bool split =
      std::any_of(bars.begin(), bars.end(), [](const Bar& b) { return b.own_us + b.library_us > 0; });
  plot.legend = {{"floor", "floor"}, {"rung", "PyTorch"}, {"best", "best"}, {"ok", "candidate"}};
  if (split) {
    plot.legend.push_back({"library", "library kernels"});
    plot.legend.push_back({"rest", "no kernel running"});
  }
  plot.columns = {"bar", "time per call"};
  if (per_step) plot.columns.emplace_back("per step");
  plot.columns.emplace_back("times the floor");
  if (split) plot.columns.insert(plot.columns.end(), {"own kernels", "library kernels"});
  for (const Bar& bar : bars) {
    std::vector<std::string> row = {bar.label, Microseconds(bar.us)};
    if (per_step) row.push_back(Microseconds(bar.us / steps));
    row.push_back(run.floor_us > 0 ? TimesSign(bar.us / run.floor_us) : "");
    if (split) {
      const bool known = bar.own_us + bar.library_us > 0;
      row.push_back(known ? Microseconds(bar.own_us) : "");
      row.push_back(known ? Microseconds(bar.library_us) : "");
    }
    plot.rows.push_back(row);
  }
  if (bars.size() > kMostRows) {
    plot.description +=
        fmt::format(" The first {} of {} are drawn; the table has all.", kMostRows, bars.size());
    bars.resize(kMostRows);
  }
  DrawBoth(&plot, [&](PlotWidth width) { return Draw(plot, bars, steps, per_step, width); });
  return plot;
}

}  // namespace hone

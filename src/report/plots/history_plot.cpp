// A task's runs over time: one row per run, oldest first, with the interval of its result, and a line for the
// best result so far. Runs that are not comparable (another device, other versions, other baselines) are
// under separate headings, each with its own line.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/plots/row_canvas.h"
#include "store/run_result.h"

namespace hone {

namespace {

constexpr size_t kMostRuns = 60;

struct HistoryRow {
  Standing run;
  std::string group;
  double best_so_far = 0;  // estimate of the run with the best lower end; 0: none yet
  bool leads = false;      // it was the best at its end
};

std::string GroupName(const Standing& one, bool several_texts) {
  std::string name = one.device.empty() ? "device not known" : one.device;
  if (!one.setting.empty()) name += "; " + one.setting;
  if (several_texts) name += "; task text " + one.task_sha256.substr(0, 8);
  return name;
}

std::vector<HistoryRow> RowsOf(const std::vector<Standing>& runs) {
  std::set<std::string> texts;
  for (const Standing& one : runs) texts.insert(one.task_sha256);
  std::vector<std::string> order;
  for (const Standing& one : runs)
    if (one.accepted()) {
      const std::string name = GroupName(one, texts.size() > 1);
      if (std::find(order.begin(), order.end(), name) == order.end()) order.push_back(name);
    }
  std::vector<HistoryRow> rows;
  if (order.size() <= 1) {
    for (const Standing& one : runs) rows.push_back({one, "", 0, false});
  } else {
    for (const std::string& name : order)
      for (const Standing& one : runs)
        if (one.accepted() && GroupName(one, texts.size() > 1) == name) rows.push_back({one, name, 0, false});
    for (const Standing& one : runs)
      if (!one.accepted()) rows.push_back({one, "nothing accepted", 0, false});
  }
  const Standing* best = nullptr;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i > 0 && rows[i].group != rows[i - 1].group) best = nullptr;
    if (rows[i].run.accepted() && (best == nullptr || rows[i].run.ci_low > best->ci_low)) {
      best = &rows[i].run;
      rows[i].leads = true;
    }
    rows[i].best_so_far = best == nullptr ? 0 : best->vs_best;
  }
  return rows;
}

std::string Figure(const Standing& one, bool wide) {
  if (!one.accepted()) return ResultWords(one.result);
  if (!wide) return TimesSign(one.vs_best);
  return fmt::format("{} [{:.2f}, {:.2f}]", TimesSign(one.vs_best), one.ci_low, one.ci_high);
}

std::string Label(const Standing& one) {
  return fmt::format("R{} {}", one.run_id, one.created.substr(0, 10));
}

// Goes down from row to row, and across where a run improved on the best.
void DrawBestSoFar(RowCanvas* canvas, const Axis& axis, const std::vector<HistoryRow>& rows) {
  std::vector<std::pair<double, double>> line;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i > 0 && rows[i].group != rows[i - 1].group) {
      if (line.size() > 1) canvas->svg().Path(line, "rule mean hollow-line");
      line.clear();
    }
    if (rows[i].best_so_far <= 0) continue;
    const double x = axis.At(rows[i].best_so_far);
    if (!line.empty() && line.back().first != x) line.emplace_back(line.back().first, canvas->Y(i));
    line.emplace_back(x, canvas->Y(i));
  }
  if (line.size() > 1) canvas->svg().Path(line, "rule mean hollow-line");
}

Svg Draw(const Plot& plot, const std::vector<HistoryRow>& rows, PlotWidth width) {
  std::vector<CanvasRow> names;
  double low = 1;
  double high = 1.2;
  for (const HistoryRow& row : rows) {
    names.push_back({Label(row.run), row.group, Figure(row.run, true), Figure(row.run, false), row.leads});
    if (!row.run.accepted()) continue;
    low = std::min({low, row.run.vs_best, row.run.ci_low > 0 ? row.run.ci_low : row.run.vs_best});
    high = std::max({high, row.run.vs_best, row.run.ci_high});
  }
  RowCanvas canvas(plot, width, names);
  const bool log = high / low > kWideRange;
  Axis axis = log ? Axis::Log(low * 0.95, high * 1.05, canvas.left(), canvas.right())
                  : Axis::Linear(std::max(0.0, low - 0.1), high + 0.1, canvas.left(), canvas.right());
  axis.SetUnit("\u00d7");
  canvas.Frame(axis, log ? "speed-up against the best PyTorch baseline (log)"
                         : "speed-up against the best PyTorch baseline");
  canvas.Rule(axis.At(1), "as fast as PyTorch");
  DrawBestSoFar(&canvas, axis, rows);
  for (size_t i = 0; i < rows.size(); ++i) {
    const Standing& one = rows[i].run;
    if (!one.accepted()) continue;
    const char* tone = rows[i].leads ? "best" : "ok";
    canvas.svg().Interval(axis.At(one.ci_low), axis.At(one.ci_high), canvas.Y(i), tone);
    canvas.svg().Mark(MarkShape::kDot, axis.At(one.vs_best), canvas.Y(i), 4.5, tone,
                      Label(one) + ": " + Figure(one, true));
  }
  return canvas.svg();
}

}  // namespace

std::optional<Plot> HistoryPlot(const std::vector<Standing>& runs) {
  if (std::none_of(runs.begin(), runs.end(), [](const Standing& one) { return one.accepted(); }))
    return std::nullopt;
  const std::vector<Standing> shown(
      runs.size() > kMostRuns ? runs.end() - static_cast<std::ptrdiff_t>(kMostRuns) : runs.begin(),
      runs.end());
  const std::vector<HistoryRow> rows = RowsOf(shown);
  Plot plot;
  plot.id = "history";
  plot.title = "Runs of this task over time";
  plot.description =
      "Each row is a run, the oldest first: the speed-up of its best accepted candidate against the fastest "
      "PyTorch baseline, with the 95% interval. The line is the best so far, ranked by the lower end of "
      "the "
      "interval. Only results on the same task text, device, versions and baselines share a line.";
  if (shown.size() < runs.size())
    plot.description +=
        fmt::format(" The newest {} of {} runs are drawn; the table has all.", shown.size(), runs.size());
  plot.legend = {{"best", "best when it ended"}, {"ok", "accepted"}};
  plot.columns = {"run", "when", "result", "best", "speed-up", "95% low", "95% high", "vs eager", "setting"};
  for (const Standing& one : runs)
    plot.rows.push_back({fmt::format("R{}", one.run_id), one.created, ResultWords(one.result), one.best_key,
                         one.accepted() ? TimesSign(one.vs_best) : "",
                         one.accepted() ? fmt::format("{:.3f}", one.ci_low) : "",
                         one.accepted() ? fmt::format("{:.3f}", one.ci_high) : "",
                         one.accepted() ? TimesSign(one.vs_eager) : "", one.setting});
  DrawBoth(&plot, [&](PlotWidth width) { return Draw(plot, rows, width); });
  return plot;
}

}  // namespace hone

// Error against limit: each candidate's error as a share of its limit. Candidates right of the line are
// wrong.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "report/escape.h"
#include "report/plots/row_canvas.h"

namespace hone {

namespace {

struct ErrorRow {
  std::string label;
  std::string phase;
  std::string tone;
  double share = 0;            // share of the limit; may be infinite
  double reference_share = 0;  // PyTorch's own share; 0: none
  bool best = false;
};

std::string ShareText(double share) {
  if (!std::isfinite(share)) return "not finite";
  if (share == 0) return "exact";
  return share < 10 ? fmt::format("{:.2g}", share) : ShortNumber(share);
}

Svg Draw(const Plot& plot, const std::vector<ErrorRow>& shown, PlotWidth width, const std::string& title) {
  std::vector<CanvasRow> rows;
  double low = 0.1;
  double high = 2;
  for (const ErrorRow& one : shown) {
    rows.push_back({one.label, one.phase, ShareText(one.share), ShareText(one.share), one.best});
    for (const double share : {one.share, one.reference_share}) {
      if (!(share > 0) || !std::isfinite(share)) continue;
      low = std::min(low, share);
      high = std::max(high, share);
    }
  }
  RowCanvas canvas(plot, width, rows);
  const Axis axis =
      Axis::Log(std::max(low, 1e-9) * 0.9, std::min(high, 1e9) * 1.1, canvas.left(), canvas.right());
  canvas.svg().Rect(axis.At(1), canvas.top(), canvas.right() - axis.At(1), canvas.bottom() - canvas.top(),
                    "forbidden");
  canvas.Frame(axis, title);
  canvas.Rule(axis.At(1), "the limit", "rule limit");
  for (size_t i = 0; i < shown.size(); ++i) {
    const double y = canvas.Y(i);
    if (shown[i].reference_share > 0)
      canvas.svg().Mark(MarkShape::kSquare, axis.At(shown[i].reference_share), y, 3.5, "rung",
                        "PyTorch itself: " + ShareText(shown[i].reference_share));
    const double share = std::isfinite(shown[i].share) ? shown[i].share : axis.high();
    canvas.svg().Mark(MarkShape::kDot, axis.At(share), y, 4.5, shown[i].tone,
                      shown[i].label + ": " + ShareText(shown[i].share) + " of the limit");
  }
  return canvas.svg();
}

double ShareOf(double error, double limit) {
  return error == 0 ? 0 : limit > 0 ? error / limit : std::numeric_limits<double>::infinity();
}

}  // namespace

std::optional<Plot> ErrorPlot(const RunFigures& run) {
  Plot plot;
  plot.id = "error";
  plot.title = "Error against limit";
  plot.description =
      "Each candidate's distance from the float64 result, as a share of the limit. Candidates right of the "
      "line are wrong. The square is PyTorch's own error on the same inputs.";
  plot.legend = {{"ok", "candidate"}, {"rung square", "PyTorch"}, {"forbidden", "over the limit"}};
  plot.columns = {"candidate", "error", "limit", "share of limit", "PyTorch's own error"};
  std::vector<ErrorRow> shown;
  for (const CandidateFigure& one : run.candidates) {
    if (one.trials.empty()) continue;
    plot.rows.push_back({one.key, HumanNumber(one.error), HumanNumber(one.error_limit),
                         ShareText(ShareOf(one.error, one.error_limit)), HumanNumber(one.reference_error)});
    if (shown.size() < kMostRows)
      shown.push_back({one.key, one.phase, ToneOf(one), ShareOf(one.error, one.error_limit),
                       ShareOf(one.reference_error, one.error_limit), one.best});
  }
  if (shown.empty()) return std::nullopt;
  if (plot.rows.size() > shown.size())
    plot.description +=
        fmt::format(" The first {} of {} are drawn; the table has all.", shown.size(), plot.rows.size());
  DrawBoth(&plot, [&](PlotWidth width) { return Draw(plot, shown, width, "error / limit (log)"); });
  return plot;
}

std::optional<Plot> TrialErrorsPlot(const CandidateFigure& candidate) {
  if (candidate.trials.empty()) return std::nullopt;
  Plot plot;
  plot.id = AnchorOf("trials-", candidate.key);
  plot.title = "Error of every trial";
  plot.description =
      "Each row is one output for one secret input: its distance from the float64 result by norm, as a share "
      "of the limit. The square is the worst single element.";
  plot.legend = {{"ok", "by norm"}, {"rung square", "worst element"}, {"forbidden", "over the limit"}};
  plot.columns = {"trial", "error by norm", "limit", "worst element", "limit of one element"};
  std::vector<ErrorRow> shown;
  for (const TrialFigure& trial : candidate.trials) {
    plot.rows.push_back({trial.name, HumanNumber(trial.relative), HumanNumber(trial.limit),
                         HumanNumber(trial.worst), HumanNumber(trial.worst_limit)});
    const double share = ShareOf(trial.relative, trial.limit);
    const double worst = ShareOf(trial.worst, trial.worst_limit);
    if (shown.size() < kMostRows)
      shown.push_back({trial.name, "", share <= 1 && worst <= 1 ? "ok" : "bad", share, worst, false});
  }
  DrawBoth(&plot, [&](PlotWidth width) { return Draw(plot, shown, width, "error / limit (log)"); });
  return plot;
}

}  // namespace hone

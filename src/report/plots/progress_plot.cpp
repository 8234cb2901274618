// The progress of a run over its model calls: the best speed-up so far above, the money spent below. If no
// model was called, or one agent made all candidates in one call, the axis is the candidates. Tokens replace
// money if a price is unknown.
#include <fmt/format.h>

#include <algorithm>

#include "report/plots/row_canvas.h"

namespace hone {

namespace {

constexpr double kUpper = 150;  // heights of the two areas
constexpr double kLower = 90;
constexpr double kBetween = 34;

struct BestPoint {
  size_t at = 0;  // number of calls or candidates so far
  std::string key;
  double best = 1;  // a run starts with PyTorch itself
};

struct RunProgress {
  bool over_calls = false;
  size_t last = 0;
  std::vector<BestPoint> improvements;
  std::vector<double>
      spent;  // after each call or candidate, starting before the first; empty: nothing was spent
  bool dollars = false;
};

double SpentBy(const Usage& usage, bool dollars) {
  return dollars ? usage.cost_usd : static_cast<double>(usage.total());
}

RunProgress ProgressOf(const RunFigures& run) {
  RunProgress progress;
  const bool agent = std::any_of(run.calls.begin(), run.calls.end(),
                                 [](const CallFigure& call) { return call.call_type == "agent"; });
  progress.over_calls = run.calls.size() > 1 && !agent;
  progress.last = progress.over_calls ? run.calls.size() : run.candidates.size();
  std::vector<BestPoint> accepted;
  for (size_t i = 0; i < run.candidates.size(); ++i) {
    const CandidateFigure& one = run.candidates[i];
    if (one.verdict == NameOf(Decision::kAccepted) && one.timed())
      accepted.push_back({progress.over_calls ? one.calls_then : i + 1, one.key, one.vs_best});
  }
  std::stable_sort(accepted.begin(), accepted.end(),
                   [](const BestPoint& a, const BestPoint& b) { return a.at < b.at; });
  double best = 1;
  for (const BestPoint& one : accepted) {
    if (one.best <= best) continue;
    best = one.best;
    // If several candidates belong to one call, the last is the best.
    if (!progress.improvements.empty() && progress.improvements.back().at == one.at)
      progress.improvements.back() = one;
    else
      progress.improvements.push_back(one);
  }
  Usage all;
  progress.dollars = true;
  for (const CallFigure& call : run.calls) {
    all = all + call.usage;
    progress.dollars = progress.dollars && call.usage.price_known;
  }
  progress.dollars = progress.dollars && all.cost_usd > 0;
  if (all.total() == 0 && !progress.dollars) return progress;
  progress.spent = {0};
  if (progress.over_calls)
    for (const CallFigure& call : run.calls)
      progress.spent.push_back(progress.spent.back() + SpentBy(call.usage, progress.dollars));
  else
    for (size_t i = 0; i < run.candidates.size(); ++i) {
      double sum = 0;
      const bool end = i + 1 == run.candidates.size();
      for (const CallFigure& call : run.calls)
        if (end || call.at_s <= run.candidates[i].at_s) sum += SpentBy(call.usage, progress.dollars);
      progress.spent.push_back(std::max(sum, progress.spent.back()));
    }
  return progress;
}

std::string SpentWords(const RunProgress& progress, size_t at) {
  if (at >= progress.spent.size()) return "";
  return progress.dollars ? fmt::format("${:.4f}", progress.spent[at])
                          : fmt::format("{:.0f}", progress.spent[at]);
}

Svg Draw(const Plot& plot, const RunProgress& progress, PlotWidth width) {
  const bool wide = width == PlotWidth::kWide;
  const bool paid = !progress.spent.empty();
  Svg svg(plot.id + (wide ? "-wide" : "-narrow"), PixelsOf(width),
          kTop + kUpper + (paid ? kBetween + kLower : 0) + kBottom, plot.title, plot.description);
  Axis x = Axis::Linear(0, static_cast<double>(progress.last), kLeft, PixelsOf(width) - 14);
  x.KeepWholeTicks();
  const auto at = [&](size_t number) { return x.At(static_cast<double>(number)); };
  const double best = progress.improvements.empty() ? 1 : progress.improvements.back().best;
  const bool log = best > kWideRange;
  Axis y = log ? Axis::Log(1, best * 1.05, kTop + kUpper, kTop)
               : Axis::Linear(1, std::max(1.2, best * 1.02), kTop + kUpper, kTop);
  y.SetUnit("\u00d7");
  const char* what = progress.over_calls ? "model calls" : "candidates";
  svg.BottomAxis(x, y.to(), y.from(), paid ? "" : what);
  svg.LeftAxis(y, x.from(), x.to(), log ? "best speed-up so far (log)" : "best speed-up so far");
  std::vector<std::pair<double, double>> line = {{at(0), y.At(1)}};
  for (const BestPoint& one : progress.improvements) {
    line.emplace_back(at(one.at), line.back().second);
    line.emplace_back(at(one.at), y.At(one.best));
  }
  line.emplace_back(at(progress.last), line.back().second);
  svg.Path(line, "stroke best");
  for (const BestPoint& one : progress.improvements)
    svg.Mark(MarkShape::kDot, at(one.at), y.At(one.best), 3.2, "best",
             fmt::format("{}: {}", one.key, TimesSign(one.best)));
  if (!paid) return svg;
  const double top = kTop + kUpper + kBetween + 6;
  Axis money =
      Axis::Linear(0, std::max(progress.spent.back(), progress.dollars ? 1e-4 : 1.0), top + kLower, top);
  svg.BottomAxis(x, money.to(), money.from(), what);
  svg.LeftAxis(money, x.from(), x.to(), progress.dollars ? "dollars spent" : "tokens spent");
  line.clear();
  for (size_t i = 0; i < progress.spent.size(); ++i) {
    if (i > 0) line.emplace_back(at(i), money.At(progress.spent[i - 1]));
    line.emplace_back(at(i), money.At(progress.spent[i]));
  }
  std::vector<std::pair<double, double>> area = line;
  area.emplace_back(at(progress.spent.size() - 1), money.At(0));
  svg.Path(area, "area prompts", true);
  svg.Path(line, "stroke rung");
  return svg;
}

}  // namespace

std::optional<Plot> ProgressPlot(const RunFigures& run) {
  const RunProgress progress = ProgressOf(run);
  if (progress.last < 2) return std::nullopt;
  Plot plot;
  plot.id = "progress";
  plot.title = progress.spent.empty() ? "Best so far" : "Best so far, and what it cost";
  const char* what = progress.over_calls ? "model calls" : "candidates";
  plot.description = fmt::format(
      "The best accepted speed-up against the fastest PyTorch baseline after each of {} {}; 1\u00d7 is "
      "PyTorch "
      "itself.",
      progress.last, what);
  if (!progress.spent.empty())
    plot.description +=
        fmt::format(" Below it, the {} spent up to there{}.", progress.dollars ? "money" : "tokens",
                    progress.dollars ? "" : "; the prices are not known");
  plot.columns = {progress.over_calls ? "call" : "candidate", "new best", "speed-up",
                  progress.dollars ? "spent" : "tokens"};
  for (const BestPoint& one : progress.improvements)
    plot.rows.push_back({std::to_string(one.at), one.key, TimesSign(one.best), SpentWords(progress, one.at)});
  if (progress.improvements.empty() || progress.improvements.back().at != progress.last)
    plot.rows.push_back({std::to_string(progress.last), "", "", SpentWords(progress, progress.last)});
  DrawBoth(&plot, [&](PlotWidth width) { return Draw(plot, progress, width); });
  return plot;
}

}  // namespace hone

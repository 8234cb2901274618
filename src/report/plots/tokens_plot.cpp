// Tokens over time: the tokens of all model calls so far, prompts and replies stacked. The table sums them by
// type of call.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "report/plots/row_canvas.h"
#include "report/usage_words.h"
#include "store/record_io.h"

namespace hone {

namespace {

constexpr double kHeight = 280;

struct Spent {
  double at_s = 0;
  double prompt = 0;
  double total = 0;
};

std::vector<Spent> Running(const std::vector<CallFigure>& calls) {
  std::vector<Spent> spent = {{0, 0, 0}};
  for (const CallFigure& call : calls) {
    Spent next = spent.back();
    next.at_s = std::max(next.at_s, call.at_s);
    next.prompt += static_cast<double>(call.usage.prompt_tokens);
    next.total += static_cast<double>(call.usage.total());
    spent.push_back(next);
  }
  return spent;
}

Svg Draw(const Plot& plot, const RunFigures& run, PlotWidth width) {
  const bool wide = width == PlotWidth::kWide;
  Svg svg(plot.id + (wide ? "-wide" : "-narrow"), PixelsOf(width), kHeight, plot.title, plot.description);
  const std::vector<Spent> spent = Running(run.calls);
  const double last = std::max(spent.back().at_s, 1.0);
  const double unit = last > 7200 ? 3600 : last > 180 ? 60 : 1;
  const Axis x = Axis::Linear(0, last / unit, kLeft, PixelsOf(width) - 14);
  const Axis y = Axis::Linear(0, std::max(spent.back().total, 1.0), kHeight - kBottom, kTop);
  svg.BottomAxis(x, y.to(), y.from(),
                 unit == 1    ? "seconds into the run"
                 : unit == 60 ? "minutes into the run"
                              : "hours into the run");
  svg.LeftAxis(y, x.from(), x.to(), "tokens");
  // Draws steps, because tokens are spent when a call is answered.
  const auto steps = [&](auto value) {
    std::vector<std::pair<double, double>> line;
    for (size_t i = 0; i < spent.size(); ++i) {
      if (i > 0) line.emplace_back(x.At(spent[i].at_s / unit), y.At(value(spent[i - 1])));
      line.emplace_back(x.At(spent[i].at_s / unit), y.At(value(spent[i])));
    }
    return line;
  };
  std::vector<std::pair<double, double>> total = steps([](const Spent& s) { return s.total; });
  std::vector<std::pair<double, double>> prompt = steps([](const Spent& s) { return s.prompt; });
  std::vector<std::pair<double, double>> area = total;
  area.insert(area.end(), prompt.rbegin(), prompt.rend());
  svg.Path(area, "area replies", true);
  area = prompt;
  area.emplace_back(prompt.back().first, y.At(0));
  area.emplace_back(prompt.front().first, y.At(0));
  svg.Path(area, "area prompts", true);
  svg.Path(total, "stroke ok");
  for (size_t i = 1; i < spent.size() && run.calls.size() <= 100; ++i)
    svg.Mark(MarkShape::kDot, x.At(spent[i].at_s / unit), y.At(spent[i].total), 2.6, "ok",
             fmt::format("{}: {} + {} tokens", run.calls[i - 1].key, run.calls[i - 1].usage.prompt_tokens,
                         run.calls[i - 1].usage.completion_tokens));
  return svg;
}

}  // namespace

std::optional<Plot> TokensPlot(const RunFigures& run) {
  UsageTotals all;
  std::map<std::string, UsageTotals> by_type;
  for (const CallFigure& call : run.calls)
    for (UsageTotals* sum : {&all, &by_type[call.call_type]}) AddCall(call.usage, sum);
  if (all.total() == 0) return std::nullopt;
  Plot plot;
  plot.id = "tokens";
  plot.title = "Tokens over time";
  plot.description =
      fmt::format("Tokens of all model calls up to each moment of the run, {} in total{}.", all.total(),
                  all.estimated ? "; where a server did not count them, they are estimated" : "");
  plot.legend = {{"prompts", "prompts"}, {"replies", "replies"}};
  plot.columns = {"kind of call", "calls", "prompt tokens", "reply tokens"};
  for (const std::string& part : PartColumns(all)) plot.columns.push_back(part);
  plot.columns.emplace_back("cost");
  const auto row = [&](const std::string& name, const UsageTotals& sum) -> std::vector<std::string> {
    std::vector<std::string> cells = {name, std::to_string(sum.calls), std::to_string(sum.prompt_tokens),
                                      std::to_string(sum.completion_tokens)};
    for (const std::string& part : PartCells(sum, all)) cells.push_back(part);
    cells.push_back(sum.price_known ? fmt::format("${:.4f}", sum.cost_usd) : "not known");
    return cells;
  };
  for (const auto& [type, sum] : by_type) plot.rows.push_back(row(type, sum));
  plot.rows.push_back(row("all", all));
  DrawBoth(&plot, [&](PlotWidth width) { return Draw(plot, run, width); });
  return plot;
}

}  // namespace hone

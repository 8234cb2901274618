#include "report/plots/plots.h"

namespace hone {

std::vector<Plot> RunPlots(const RunFigures& run) {
  std::vector<Plot> plots;
  for (const auto& make : {ProgressPlot, SpeedupPlot, RooflinePlot, TimePlot, TokensPlot, ErrorPlot})
    if (std::optional<Plot> plot = make(run)) plots.push_back(std::move(*plot));
  return plots;
}

Plot Prefixed(Plot plot, const std::string& prefix) {
  plot.id = prefix + plot.id;
  for (Svg& drawing : plot.drawings) drawing.PrefixId(prefix);
  return plot;
}

std::vector<Plot> CandidatePlots(const CandidateFigure& candidate) {
  std::vector<Plot> plots;
  for (const auto& make : {TimingDistributionPlot, TrialErrorsPlot})
    if (std::optional<Plot> plot = make(candidate)) plots.push_back(std::move(*plot));
  return plots;
}

}  // namespace hone

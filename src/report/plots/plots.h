// All plots, one function and one file each, from figures to a drawing and a table of its numbers. They do no
// I/O, and return no plot if it would be empty.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "report/run_figures.h"
#include "report/suite_report.h"
#include "report/svg.h"
#include "store/standings.h"

namespace hone {

// Each plot is drawn twice, for a page and for a phone. A page shows the one that fits.
enum class PlotWidth { kWide, kNarrow };
constexpr double PixelsOf(PlotWidth width) {
  return width == PlotWidth::kWide ? 900 : 350;
}

struct Legend {
  std::string classes;  // classes of the colour sample
  std::string text;
};

struct Plot {
  std::string id;           // "speedup"
  std::string title;        // "Speed-up over candidates"
  std::string description;  // the axes and the message of the picture, in one or two sentences
  std::vector<Legend> legend;
  std::vector<Svg> drawings;  // wide, narrow
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // the plotted numbers as text
};

// Speed-up against the best PyTorch baseline with 95% intervals, in the order of the run, grouped by phase.
std::optional<Plot> SpeedupPlot(const RunFigures& run);
// Arithmetic rate over arithmetic intensity: the roof, the floor's point, the PyTorch baselines, every
// candidate.
std::optional<Plot> RooflinePlot(const RunFigures& run);
// Time per call, or per dependent step if the task is recurrent: floor, baselines, candidates; split into own
// kernels, library kernels and the rest if there is a profile.
std::optional<Plot> TimePlot(const RunFigures& run);
std::optional<Plot> TokensPlot(const RunFigures& run);
// The best speed-up so far and its cost, over a model's calls; over candidates without a model or with an
// agent.
std::optional<Plot> ProgressPlot(const RunFigures& run);
// The parents of each candidate. With `href` each candidate is a link. Not made if no candidate has a parent.
using CandidateHref = std::function<std::string(const std::string& key)>;
std::optional<Plot> LineagePlot(const RunFigures& run, const CandidateHref& href = {});
// Each candidate's error as a share of its limit.
std::optional<Plot> ErrorPlot(const RunFigures& run);
// For one candidate: every round of every contestant, and every output of every trial.
std::optional<Plot> TimingDistributionPlot(const CandidateFigure& candidate);
std::optional<Plot> TrialErrorsPlot(const CandidateFigure& candidate);
// The speed-ups of a suite, task by task.
std::optional<Plot> SuitePlot(const SuiteSummary& suite);
// The results of one task's runs over time, and the best so far. `runs` as TaskHistory returns them.
std::optional<Plot> HistoryPlot(const std::vector<Standing>& runs);

// The plots of a run that are not empty, in the order of the report.
std::vector<Plot> RunPlots(const RunFigures& run);
// The same plot with a prefixed id, for a page with several runs.
Plot Prefixed(Plot plot, const std::string& prefix);
// The plots of one candidate.
std::vector<Plot> CandidatePlots(const CandidateFigure& candidate);

}  // namespace hone

// All plots, one function and one file each: figures in, a drawing and the table of its numbers out. Nothing
// here reads or writes files, and a plot that would be empty is not made.
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

// Drawn twice, for a page and for a phone; a page shows the one that fits.
enum class PlotWidth { kWide, kNarrow };
constexpr double PixelsOf(PlotWidth width) {
  return width == PlotWidth::kWide ? 900 : 350;
}

struct Legend {
  std::string classes;  // of the swatch
  std::string text;
};

struct Plot {
  std::string id;           // "speedup"
  std::string title;        // "Speed-up over candidates"
  std::string description;  // what the axes are and what the picture says, in a sentence or two
  std::vector<Legend> legend;
  std::vector<Svg> drawings;  // wide, narrow
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // the numbers behind it, as text
};

// Speed-up against the best PyTorch baseline with 95% intervals, in the order of the run, grouped by phase.
std::optional<Plot> SpeedupPlot(const RunFigures& run);
// Arithmetic rate over arithmetic intensity: the roof, the floor's point, PyTorch's ladder, every candidate.
std::optional<Plot> RooflinePlot(const RunFigures& run);
// Time per call, or per dependent step where the task is recurrent: floor, ladder, candidates; split into own
// kernels, library kernels and the rest where a profile was taken.
std::optional<Plot> TimePlot(const RunFigures& run);
std::optional<Plot> TokensPlot(const RunFigures& run);
// The best speed-up so far, and what it cost, over the calls of a model; over candidates where no model or an
// agent worked.
std::optional<Plot> ProgressPlot(const RunFigures& run);
// What was made from what. With `href` each candidate is a link. Not made where nothing was made from
// another.
using CandidateHref = std::function<std::string(const std::string& key)>;
std::optional<Plot> LineagePlot(const RunFigures& run, const CandidateHref& href = {});
// Each candidate's error as a share of its limit.
std::optional<Plot> ErrorPlot(const RunFigures& run);
// One candidate: every round of every contestant; every output of every trial.
std::optional<Plot> TimingDistributionPlot(const CandidateFigure& candidate);
std::optional<Plot> TrialErrorsPlot(const CandidateFigure& candidate);
// What a suite gained, task by task.
std::optional<Plot> SuitePlot(const SuiteSummary& suite);
// What the runs of one task reached over time, and the best so far. `runs` as TaskHistory gives them.
std::optional<Plot> HistoryPlot(const std::vector<Standing>& runs);

// Those of a run that have something to show, in the order of the report.
std::vector<Plot> RunPlots(const RunFigures& run);
// The same plot under another id, for a page with several runs.
Plot Prefixed(Plot plot, const std::string& prefix);
// One candidate's.
std::vector<Plot> CandidatePlots(const CandidateFigure& candidate);

}  // namespace hone

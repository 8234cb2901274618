// One run: what came of it or is coming of it, every candidate, what was decided, what was said. The parts
// that change while it runs are fragments of their own, rendered here for the page and for its live events
// alike.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "dashboard/pages.h"
#include "dashboard/views.h"
#include "pipeline/run_lock.h"
#include "pipeline/run_options.h"
#include "report/html_page.h"
#include "report/html_report.h"

namespace hone {

namespace {

constexpr int kConsoleShown = 400;

const CandidateRecord* BestOf(const LiveRun& live) {
  const CandidateRecord* best = nullptr;
  for (const CandidateRecord& one : live.candidates) {
    if (!live.run.best_key.empty()) {
      if (one.key == live.run.best_key) return &one;
    } else if (one.accepted() && (best == nullptr || one.vs_best > best->vs_best)) {
      best = &one;
    }
  }
  return best;
}

std::string OrMessage(Result<std::string> html) {
  return html.ok() ? std::move(*html) : "<p>" + fmt::format("this part cannot be shown") + "</p>";
}

std::string SummaryHtml(const LiveRun& live) {
  Json values = RunValues(live.run, live.abandoned);
  const CandidateRecord* best = BestOf(live);
  values["has_best"] = best != nullptr;
  if (best != nullptr) values["best"] = CandidateValues(*best, live.candidates, best->key);
  int64_t judged = 0;
  int64_t accepted = 0;
  int64_t in_work = 0;
  for (const CandidateRecord& one : live.candidates) {
    if (one.phase == "zero") continue;
    judged += one.judged() ? 1 : 0;
    accepted += one.accepted() ? 1 : 0;
    in_work += one.judged() ? 0 : 1;
  }
  values["judged"] = judged;
  values["accepted"] = accepted;
  values["in_work"] = in_work;
  values["budget"] = BudgetValues(live);
  values["usage"] = UsageValues(live.usage);
  return OrMessage(RenderFragment("run_summary", std::move(values)));
}

std::string RowHtml(const LiveRun& live, const CandidateRecord& one) {
  const CandidateRecord* best = BestOf(live);
  return OrMessage(RenderFragment("candidate_row",
                                  CandidateValues(one, live.candidates, best == nullptr ? "" : best->key)));
}

std::string PlotHtml(const LiveRun& live) {
  RunStory story;
  story.run = live.run;
  story.candidates = live.candidates;
  if (const CandidateRecord* best = BestOf(live); best != nullptr) story.run.best_key = best->key;
  const RunFigures figures = FiguresOf(story, {});
  std::vector<Plot> plots;
  for (const std::optional<Plot>& plot : {SpeedupPlot(figures), ErrorPlot(figures)})
    if (plot) plots.push_back(*plot);
  return PlotFigures(plots);
}

// The last lines a run said.
Result<std::vector<std::pair<int64_t, std::string>>> LastLines(RunStore& store, int64_t run_id) {
  std::vector<std::pair<int64_t, std::string>> last;
  int64_t after = 0;
  while (true) {
    HONE_ASSIGN_OR_RETURN(auto lines, store.Console(run_id, after, 2000));
    if (lines.empty()) break;
    after = lines.back().first;
    last.insert(last.end(), lines.begin(), lines.end());
    if (last.size() > kConsoleShown) last.erase(last.begin(), last.end() - kConsoleShown);
  }
  return last;
}

Json OptionsValues(const std::string& options) {
  const RunOptions run = RunOptionsFromJson(JsonOrNull(options));
  return {{"seeds", run.seeds},
          {"repairs", run.repairs},
          {"analysis", run.analysis ? "yes" : "no"},
          {"tuning", run.tuning ? fmt::format("yes, {} trials", run.tune_trials) : "no"}};
}

}  // namespace

Result<RunRecord> FindRunById(RunStore& store, const std::string& id) {
  int64_t number = 0;
  const char* end = id.data() + id.size();
  if (id.size() < 2 || id[0] != 'R' || std::from_chars(id.data() + 1, end, number).ptr != end)
    return Error{ErrorKind::kNotFound, "there is no such run"};
  Result<RunRecord> run = store.FindRun(fmt::format("R{}", number));
  if (run.ok() && run->id != number) return Error{ErrorKind::kNotFound, "there is no such run"};
  return run;
}

LiveRenderer RunRenderer() {
  return {SummaryHtml, PlotHtml, RowHtml};
}

HttpReply RunReportPage(const PageContext& page, const std::string& id) {
  const Result<RunRecord> run = FindRunById(page.store, id);
  if (!run.ok()) return ErrorPage(run.error());
  const Result<RunData> data = ReadRunData(page.store, fmt::format("R{}", run->id));
  if (!data.ok()) return ErrorPage(data.error());
  HttpReply reply;
  reply.body = RunHtml(*data);
  // The file carries its style inside, which the dashboard's own policy does not allow.
  reply.headers.emplace_back("Content-Security-Policy", HtmlPagePolicy() + "; frame-ancestors 'none'");
  return reply;
}

HttpReply RunPage(const PageContext& page, const std::string& id) {
  LiveRun live;
  Result<RunRecord> run = FindRunById(page.store, id);
  if (!run.ok()) return ErrorPage(run.error());
  live.run = std::move(*run);
  live.abandoned = IsAbandoned(live.run);
  live.options = live.run.options;
  Result<std::vector<CandidateRecord>> candidates = page.store.CandidateSummaries(live.run.id);
  if (!candidates.ok()) return ErrorPage(candidates.error());
  live.candidates = std::move(*candidates);
  const Result<UsageTotals> usage = page.store.Usage(live.run.id);
  if (!usage.ok()) return ErrorPage(usage.error());
  live.usage = *usage;
  const Result<std::vector<DecisionRecord>> decisions = page.store.Decisions(live.run.id);
  if (!decisions.ok()) return ErrorPage(decisions.error());
  const auto console = LastLines(page.store, live.run.id);
  if (!console.ok()) return ErrorPage(console.error());

  Json values = RunValues(live.run, live.abandoned);
  values["html_summary"] = SummaryHtml(live);
  values["html_plot"] = PlotHtml(live);
  std::string rows;
  for (const CandidateRecord& one : live.candidates) rows += RowHtml(live, one);
  values["html_rows"] = rows;
  values["decisions"] = Json::array();
  for (const DecisionRecord& one : *decisions)
    values["decisions"].push_back(
        {{"phase", one.phase}, {"text", one.text}, {"created", ShortTime(one.created)}});
  std::string lines;
  for (const auto& [number, line] : *console) lines += line + "\n";
  values["console"] = lines;
  values["console_id"] = console->empty() ? 0 : console->back().first;
  values["options"] = OptionsValues(live.options);
  values["events"] = RunLink(live.run.id) + "/events";
  values["actions"] = page.rules.allow_actions;
  values["csrf"] = page.rules.csrf;
  values["resumable"] = values["live"] == false && live.run.status != "done";
  const bool refresh = values["live"] == true;
  return RenderPage("run", fmt::format("R{} {}", live.run.id, live.run.task), "runs", std::move(values),
                    refresh);
}

}  // namespace hone

// One run: its result or its progress, every candidate, its notes, console and decisions. The parts that
// change during the run are fragments, rendered here for both the page and its live events.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "dashboard/pages.h"
#include "dashboard/views.h"
#include "pipeline/best_file.h"
#include "pipeline/run_lock.h"
#include "pipeline/run_options.h"
#include "report/html_page.h"
#include "report/html_report.h"
#include "store/run_notes.h"
#include "store/run_result.h"

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

// The line below a result without a speed-up.
std::string ResultNote(const RunRecord& run, int64_t judged) {
  if (run.result == kKeptPyTorch) return fmt::format("{} judged, none both correct and faster", judged);
  if (run.result == kCannotJudge)
    return fmt::format("{} judged; the task cannot tell right from wrong", judged);
  if (run.result == kNoneRight) return fmt::format("{} judged, none correct", judged);
  if (run.result == kNothingTried) return "no candidate could be judged";
  return run.result == kRunFailed ? "the run ended with an error" : "nothing is accepted";
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
  values["result_note"] = ResultNote(live.run, judged);
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
  const RunFigures figures = FiguresOf(story, live.calls);
  const auto link = [&](const std::string& key) { return CandidateLink(live.run.id, key); };
  std::vector<Plot> plots;
  for (const std::optional<Plot>& plot :
       {ProgressPlot(figures), LineagePlot(figures, link), SpeedupPlot(figures), ErrorPlot(figures)})
    if (plot) plots.push_back(*plot);
  return PlotFigures(plots);
}

// Only whole verdicts contain the list of baselines, so this reads the full verdict of the best candidate, or
// of the fastest one that was timed.
Result<std::string> RooflineHtml(RunStore& store, const LiveRun& live) {
  RunStory story;
  story.run = live.run;
  story.candidates = live.candidates;
  const CandidateRecord* chosen = BestOf(live);
  for (const CandidateRecord& one : live.candidates)
    if (BestOf(live) == nullptr && one.verdict != "baseline" && one.vs_best > 0 &&
        (chosen == nullptr || one.vs_best > chosen->vs_best))
      chosen = &one;
  if (chosen == nullptr) return std::string();
  if (BestOf(live) != nullptr) story.run.best_key = chosen->key;
  HONE_ASSIGN_OR_RETURN(const std::optional<CandidateRecord> whole,
                        store.Candidate(live.run.id, chosen->key));
  for (CandidateRecord& one : story.candidates)
    if (whole && one.key == whole->key) one = *whole;
  const std::optional<Plot> plot = RooflinePlot(FiguresOf(story, {}));
  return plot ? PlotFigure(*plot) : std::string();
}

// The newest lines of the run's console.
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

HttpReply BestFileReply(const PageContext& page, const std::string& id) {
  const Result<RunRecord> run = FindRunById(page.store, id);
  if (!run.ok()) return ErrorPage(run.error());
  if (run->best_key.empty())
    return ErrorPage(404, "this run has no accepted candidate, so there is no best.py to download");
  const Result<std::optional<CandidateRecord>> best = page.store.Candidate(run->id, run->best_key);
  if (!best.ok()) return ErrorPage(best.error());
  if (!*best) return ErrorPage(404, "the best candidate of this run is not in the store");
  return FileReply("best.py", BestFile(*run, **best));
}

HttpReply RunReportPage(const PageContext& page, const std::string& id) {
  const Result<RunRecord> run = FindRunById(page.store, id);
  if (!run.ok()) return ErrorPage(run.error());
  const Result<RunData> data = ReadRunData(page.store, fmt::format("R{}", run->id));
  if (!data.ok()) return ErrorPage(data.error());
  HttpReply reply;
  reply.body = RunHtml(*data);
  // The file contains its own style, which the dashboard's usual policy forbids.
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
  Result<std::vector<CallRecord>> calls = page.store.CallSummaries(live.run.id);
  if (!calls.ok()) return ErrorPage(calls.error());
  live.calls = std::move(*calls);
  const Result<std::vector<DecisionRecord>> decisions = page.store.Decisions(live.run.id);
  if (!decisions.ok()) return ErrorPage(decisions.error());
  Result<std::string> roofline = RooflineHtml(page.store, live);
  if (!roofline.ok()) return ErrorPage(roofline.error());
  const Result<RunNote> note = ReadRunNote(page.store, live.run.id);
  if (!note.ok()) return ErrorPage(note.error());
  const auto console = LastLines(page.store, live.run.id);
  if (!console.ok()) return ErrorPage(console.error());

  Json values = RunValues(live.run, live.abandoned);
  values["html_summary"] = SummaryHtml(live);
  values["html_plot"] = PlotHtml(live);
  values["html_roofline"] = std::move(*roofline);
  values["note"] = note->text;
  values["note_empty"] = note->empty();
  values["tags"] = TagValues(note->tags);
  values["tag_text"] = Join(note->tags, " ");
  values["notes_editable"] = page.rules.allow_notes;
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

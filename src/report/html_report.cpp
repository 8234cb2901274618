#include "report/html_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/escape.h"
#include "report/html_fragments.h"
#include "report/plots/row_canvas.h"
#include "store/run_result.h"

namespace hone {

namespace {

std::string Footer(const std::string& command) {
  return fmt::format(
      "Made by <code>{}</code>. Nothing in this file is loaded from elsewhere, and it runs no script.",
      EscapeHtml(command));
}

// The unmodified PyTorch module is candidate `zero` in the store. Pages show the proposed candidates only.
bool Proposed(const CandidateRecord& candidate) {
  return candidate.phase != "zero";
}

std::string CandidatesHtml(const RunStory& story) {
  const CandidateRecord* best = FindCandidate(story, story.run.best_key);
  std::string html;
  for (const CandidateRecord& one : story.candidates)
    if (Proposed(one))
      html +=
          CandidateDetails(one, FindCandidate(story, one.parent_key), best, best != nullptr && best == &one);
  return html.empty() ? "<p class=\"quiet\">None.</p>\n" : html;
}

// A run inside a suite's page: its outcome, its candidates, its speed-ups.
std::string Member(const RunData& data, const std::string& anchor) {
  const RunRecord& run = data.story.run;
  std::string summary = fmt::format("<span class=\"key\">{}</span>", EscapeHtml(run.task));
  summary += ResultBadge(run.result);
  if (!run.best_key.empty())
    summary += fmt::format("<span class=\"speed\">{}</span>", TimesSign(run.vs_best));
  std::string body =
      fmt::format("<div class=\"inside\" id=\"{}\">\n<p>{}</p>\n", anchor, EscapeHtml(run.outcome));
  body += CandidateTable(data.story, {});
  const RunFigures figures = FiguresOf(data.story, data.calls);
  for (const auto& make : {SpeedupPlot, TimePlot})
    if (std::optional<Plot> plot = make(figures))
      body += PlotFigure(Prefixed(std::move(*plot), anchor + "-"));
  body += RunFacts(data.story);
  return Details(summary, body + "</div>\n", false, "candidate");
}

std::string RunAnchor(const RunRecord& run) {
  return fmt::format("run-{}", run.id);
}

std::string PercentText(double share) {
  return fmt::format("{:.0f}%", 100 * share);
}

std::string SuiteHead(const SuiteSummary& summary) {
  std::string html = fmt::format(
      "<header class=\"title\">\n<p class=\"eyebrow\">Suite · {}</p>\n<h1>{}</h1>\n<p class=\"outcome\">{} "
      "tasks; {} got faster than the best PyTorch baseline.</p>\n<dl class=\"figures\">\n",
      EscapeHtml(summary.suite.created), EscapeHtml(summary.suite.name), summary.rows.size(),
      std::lround(summary.fast_1 * static_cast<double>(summary.rows.size())));
  const auto figure = [&](const char* name, const std::string& value, const std::string& small) {
    html += fmt::format("<div><dt>{}</dt><dd>{}<small>{}</small></dd></div>\n", name, EscapeHtml(value),
                        EscapeHtml(small));
  };
  figure("geometric mean", TimesSign(summary.geomean_vs_best),
         summary.geomean_vs_best
             ? fmt::format("against the best PyTorch baseline; {} against eager{}",
                           TimesSign(summary.geomean_vs_eager),
                           summary.counted == static_cast<int>(summary.rows.size())
                               ? ""
                               : fmt::format("; over {} of {} tasks", summary.counted, summary.rows.size()))
             : "no task counts in the mean");
  if (summary.degenerate > 0)
    figure("without degenerate tasks", TimesSign(summary.geomean_vs_best_without_degenerate),
           DegenerateWords(summary));
  if (summary.mending.any())
    figure("mended", std::to_string(summary.mending.mended), MendingWords(summary.mending));
  if (const std::string words = NotCountedWords(summary); !words.empty())
    figure("not in the mean", std::to_string(static_cast<int>(summary.rows.size()) - summary.counted), words);
  if (summary.missing.any())
    figure("missing", std::to_string(summary.missing.tasks.size()), MissingWords(summary));
  figure("correct", PercentText(summary.correct), "of the tasks have a correct candidate");
  figure("fast_1", PercentText(summary.fast_1),
         fmt::format("against eager {}", PercentText(summary.fast_1_eager)));
  figure("fast_2", PercentText(summary.fast_2),
         fmt::format("against eager {}", PercentText(summary.fast_2_eager)));
  if (summary.tokens > 0)
    figure("tokens", ShortNumber(static_cast<double>(summary.tokens)),
           summary.price_known ? fmt::format("${:.4f}", summary.cost_usd) : "price not known");
  return html + "</dl>\n</header>\n";
}

std::string SuiteTable(const SuiteSummary& summary) {
  std::vector<std::vector<Cell>> rows;
  for (const SuiteRow& row : summary.rows) {
    const bool won = row.run.result == kAccepted;
    rows.push_back({{row.run.task, "#" + RunAnchor(row.run), ""},
                    {RowWords(row.run), "", ResultTone(row.run.result)},
                    {won ? TimesSign(row.run.vs_best) : "", "", ""},
                    {won ? TimesSign(row.run.vs_eager) : "", "", ""},
                    {row.right ? "yes" : "no", "", ""},
                    {std::to_string(row.candidates), "", ""},
                    {std::to_string(row.usage.prompt_tokens + row.usage.completion_tokens), "", ""},
                    {HumanSeconds(row.run.seconds), "", ""},
                    {won ? row.run.best_key : "", "", ""}});
  }
  return HtmlTable(
      {"task", "result", "speed-up", "vs eager", "correct", "candidates", "tokens", "time", "best"}, rows,
      "Tasks");
}

}  // namespace

Result<RunData> ReadRunData(RunStore& store, const std::string& what) {
  RunData data;
  HONE_ASSIGN_OR_RETURN(data.story, ReadStory(store, what));
  HONE_ASSIGN_OR_RETURN(data.calls, store.Calls(data.story.run.id));
  return data;
}

Result<SuiteData> ReadSuiteData(RunStore& store, const SuiteRecord& suite) {
  SuiteData data;
  HONE_ASSIGN_OR_RETURN(data.summary, Summarise(store, suite));
  for (const SuiteRow& row : data.summary.rows) {
    HONE_ASSIGN_OR_RETURN(RunData run, ReadRunData(store, fmt::format("R{}", row.run.id)));
    data.runs.push_back(std::move(run));
  }
  return data;
}

std::string RunHtml(const RunData& data) {
  const RunStory& story = data.story;
  RunStory proposed = story;
  std::erase_if(proposed.candidates, [](const CandidateRecord& one) { return !Proposed(one); });
  const RunFigures figures = FiguresOf(story, data.calls);
  const PageLinks links = LinksInside();
  PageFrame frame;
  frame.title = fmt::format("{}: {}", story.run.task, story.run.outcome);
  frame.nav = {{"#summary", "Candidates"},   {"#plots", "Plots"},         {"#lineage", "Lineage"},
               {"#decisions", "Decisions"},  {"#each", "Each candidate"}, {"#task", "Task"},
               {"#provenance", "Provenance"}};
  frame.footer_html = Footer(fmt::format("hone report R{} --html", story.run.id));
  std::string body = RunHead(story, figures);
  body += Section("summary", "Candidates", CandidateTable(proposed, links));
  body += Section("plots", "Plots", PlotFigures(RunPlots(figures)));
  const std::optional<Plot> lineage = LineagePlot(figures, links.candidate);
  body += Section("lineage", "Lineage", (lineage ? PlotFigure(*lineage) : "") + LineageTree(proposed, links));
  body += Section("decisions", "Decisions", DecisionTable(story));
  body += Section("each", "Each candidate", CandidatesHtml(story));
  body += Section("task", "Task", TaskFacts(story));
  body += Section("provenance", "Provenance", RunFacts(story));
  return HtmlPage(frame, body);
}

std::optional<Plot> SuitePlotOf(const SuiteData& data) {
  return SuitePlot(data.summary);
}

std::string SuiteHtml(const SuiteData& data) {
  PageFrame frame;
  frame.title = data.summary.suite.name;
  frame.nav = {{"#summary", "Tasks"}, {"#plots", "Plot"}, {"#each", "Each task"}};
  frame.footer_html = Footer(fmt::format("hone report {} --html", data.summary.suite.name));
  std::string body = SuiteHead(data.summary);
  body += Section("summary", "Tasks", SuiteTable(data.summary));
  const std::optional<Plot> plot = SuitePlotOf(data);
  if (plot) body += Section("plots", "Plot", PlotFigure(*plot));
  std::string each;
  for (const RunData& run : data.runs) each += Member(run, RunAnchor(run.story.run));
  body += Section("each", "Each task", each.empty() ? "<p class=\"quiet\">None.</p>\n" : each);
  return HtmlPage(frame, body);
}

}  // namespace hone

// A run or a suite as Markdown for a README and as CSV for a spreadsheet.
#include <fmt/format.h>

#include "base/text.h"
#include "report/escape.h"
#include "report/html_report.h"
#include "report/plots/row_canvas.h"
#include "store/run_result.h"

namespace hone {

namespace {

std::string MarkdownRow(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) row += " " + EscapeMarkdown(cell) + " |";
  return row + "\n";
}

std::string MarkdownTable(const std::vector<std::string>& columns,
                          const std::vector<std::vector<std::string>>& rows) {
  std::string table = MarkdownRow(columns) + "|";
  for (size_t i = 0; i < columns.size(); ++i) table += "---|";
  table += "\n";
  for (const std::vector<std::string>& row : rows) table += MarkdownRow(row);
  return table;
}

std::string MarkdownTable(const Plot& plot) {
  return fmt::format("### {}\n\n{}\n\n{}\n", plot.title, EscapeMarkdown(plot.description),
                     MarkdownTable(plot.columns, plot.rows));
}

std::string Field(double value) {
  return value == 0 ? "" : fmt::format("{:.6g}", value);
}

}  // namespace

std::string RunMarkdown(const RunData& data) {
  const RunRecord& run = data.story.run;
  const RunFigures figures = FiguresOf(data.story, data.calls);
  std::string text = fmt::format("## {}\n\n**{}**: {}\n\n", EscapeMarkdown(run.task), ResultWords(run.result),
                                 EscapeMarkdown(run.outcome));
  text += fmt::format("Run R{}, {}, {}, {}; {} candidates in {}.\n\n", run.id, run.created,
                      EscapeMarkdown(run.device.empty() ? run.target : run.device),
                      EscapeMarkdown(run.proposer), figures.candidates.size(), HumanSeconds(run.seconds));
  if (!run.degenerate.empty())
    text += fmt::format("**Degenerate task**: {}.\n\n", EscapeMarkdown(run.degenerate));
  const MendingUse mending = MendingOf(run, data.story.candidates, data.story.decisions);
  if (mending.any()) text += "Mechanical repair: " + EscapeMarkdown(MendingWords(mending)) + ".\n\n";
  for (const auto& make : {SpeedupPlot, TimePlot, TokensPlot})
    if (const std::optional<Plot> plot = make(figures)) text += MarkdownTable(*plot);
  return text;
}

std::string SuiteMarkdown(const SuiteData& data) {
  const SuiteSummary& summary = data.summary;
  std::string text = fmt::format("## {}\n\n{} tasks, {}\n\n", EscapeMarkdown(summary.suite.name),
                                 summary.rows.size(), summary.suite.created);
  const auto percent = [](double share) { return fmt::format("{:.0f}%", 100 * share); };
  text += MarkdownTable(
              {"", "against the best PyTorch baseline", "against eager"},
              {{"geometric mean", TimesSign(summary.geomean_vs_best), TimesSign(summary.geomean_vs_eager)},
               {"fast_1", percent(summary.fast_1), percent(summary.fast_1_eager)},
               {"fast_2", percent(summary.fast_2), percent(summary.fast_2_eager)},
               {"correct", percent(summary.correct), ""}}) +
          "\n";
  if (summary.counted == 0 && !summary.rows.empty())
    text += fmt::format("No task counts in the geometric mean: {}.\n\n", NotCountedWords(summary));
  else if (summary.counted < static_cast<int>(summary.rows.size()))
    text += fmt::format("The geometric mean is over {} of {} tasks; not counted: {}.\n\n", summary.counted,
                        summary.rows.size(), NotCountedWords(summary));
  if (summary.missing.any()) text += EscapeMarkdown(MissingWords(summary)) + ".\n\n";
  if (summary.degenerate > 0) text += EscapeMarkdown(DegenerateWords(summary)) + ".\n\n";
  if (summary.mending.any())
    text += "Mechanical repair: " + EscapeMarkdown(MendingWords(summary.mending)) + ".\n\n";
  if (const std::optional<Plot> plot = SuitePlotOf(data)) text += MarkdownTable(*plot);
  return text;
}

std::string RunCsv(const RunStory& story) {
  std::string csv =
      "run,task,candidate,parent,phase,proposer,verdict,reason,kind,kernel_class,vs_best,ci_low,ci_high,vs_"
      "eager,"
      "candidate_us,predicted_us,error,error_limit,seconds,best,created,sha256,title,detail,result,"
      "degenerate\n";
  for (const CandidateRecord& one : story.candidates) {
    const std::vector<std::string> fields = {
        fmt::format("R{}", story.run.id),
        story.run.task,
        one.key,
        one.parent_key,
        one.phase,
        one.proposer,
        one.verdict,
        one.reason,
        one.kind,
        one.kernel_class,
        Field(one.vs_best),
        Field(one.ci_low),
        Field(one.ci_high),
        Field(one.vs_eager),
        Field(one.candidate_us),
        Field(one.predicted_us),
        Field(one.error),
        Field(one.error_limit),
        Field(one.seconds),
        !story.run.best_key.empty() && one.key == story.run.best_key ? "1" : "0",
        one.created,
        one.sha256,
        one.title,
        one.detail,
        story.run.result,
        story.run.degenerate};
    std::vector<std::string> escaped;
    for (const std::string& field : fields) escaped.push_back(EscapeCsv(field));
    csv += Join(escaped, ",") + "\n";
  }
  return csv;
}

}  // namespace hone

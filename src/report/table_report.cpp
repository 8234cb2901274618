// A run or a suite as Markdown for a README and as CSV for a spreadsheet.
#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "base/text.h"
#include "report/escape.h"
#include "report/html_report.h"
#include "report/plots/row_canvas.h"
#include "store/record_fields.h"
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

std::string CsvNumber(double value) {
  return value == 0 ? "" : fmt::format("{:.6g}", value);
}

struct CsvColumn {
  std::string header;
  const Field<CandidateRecord>* field = nullptr;  // nullptr: of the run (OfRun)
};

// A header is the public name. Array elements and "limit" are named after their columns.
std::string HeaderOf(const Field<CandidateRecord>& field) {
  const std::string name = field.name, column = field.column;
  if (name == "key") return "candidate";
  return Contains(name, "/") || name == "limit" ? column : name;
}

// Columns keep the places that readers know; a field that is new to the list comes last.
std::vector<CsvColumn> CsvColumns() {
  std::vector<CsvColumn> columns;
  for (const char* header :
       {"run",          "task",         "candidate",    "parent",      "phase",     "proposer", "verdict",
        "reason",       "kind",         "kernel_class", "vs_best",     "ci_low",    "ci_high",  "vs_eager",
        "candidate_us", "predicted_us", "error",        "error_limit", "seconds",   "best",     "created",
        "sha256",       "title",        "detail",       "result",      "degenerate"})
    columns.push_back({header});
  for (const Field<CandidateRecord>& field : FieldsOf<CandidateRecord>()) {
    if (field.name == nullptr || field.Is(kLong | kLocal)) continue;
    const std::string header = HeaderOf(field);
    const auto known = std::find_if(columns.begin(), columns.end(),
                                    [&](const CsvColumn& one) { return one.header == header; });
    if (known != columns.end())
      known->field = &field;
    else
      columns.push_back({header, &field});
  }
  return columns;
}

std::string OfRun(const RunRecord& run, const CandidateRecord& one, const std::string& header) {
  if (header == "run") return fmt::format("R{}", run.id);
  if (header == "task") return run.task;
  if (header == "best") return !run.best_key.empty() && one.key == run.best_key ? "1" : "0";
  if (header == "result") return run.result;
  return header == "degenerate" ? run.degenerate : "";
}

std::string CellOf(const CandidateRecord& one, const Field<CandidateRecord>& field) {
  return std::visit(
      [&](auto member) -> std::string {
        using T = std::decay_t<decltype(one.*member)>;
        if constexpr (std::is_same_v<T, std::string>)
          return one.*member;
        else
          return CsvNumber(static_cast<double>(one.*member));
      },
      field.member);
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
  const std::vector<CsvColumn> columns = CsvColumns();
  std::vector<std::string> cells;
  for (const CsvColumn& column : columns) cells.push_back(column.header);
  std::string csv = Join(cells, ",") + "\n";
  for (const CandidateRecord& one : story.candidates) {
    cells.clear();
    for (const CsvColumn& column : columns)
      cells.push_back(EscapeCsv(column.field == nullptr ? OfRun(story.run, one, column.header)
                                                        : CellOf(one, *column.field)));
    csv += Join(cells, ",") + "\n";
  }
  return csv;
}

}  // namespace hone

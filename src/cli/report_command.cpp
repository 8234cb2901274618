#include <fmt/format.h>

#include <functional>

#include "base/files.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "pipeline/run_lock.h"
#include "report/html_page.h"
#include "report/html_report.h"

namespace hone {

namespace {

struct ReportFlags {
  std::string what;
  std::string html;
  std::string svg;
  std::string markdown;
  std::string csv;
};

// The forms of a report. Each is made only on request.
struct Documents {
  std::function<std::string()> html;
  std::function<std::string()> markdown;
  std::function<std::string()> csv;
  std::function<std::vector<Plot>()> plots;
};

// "-" means standard output.
Status WriteTo(const std::string& where, const std::string& content) {
  if (where == "-") {
    fmt::print("{}", content);
    return Ok();
  }
  HONE_RETURN_IF_ERROR(WriteFileAtomic(where, content));
  fmt::print(stderr, "{}\n", SafeForTerminal(where));
  return Ok();
}

Status WritePlots(const fs::path& folder, const std::vector<Plot>& plots) {
  HONE_RETURN_IF_ERROR(MakeFolders(folder));
  if (plots.empty()) fmt::print(stderr, "hone: the run has no data to plot\n");
  for (const Plot& plot : plots)
    HONE_RETURN_IF_ERROR(
        WriteTo((folder / (plot.id + ".svg")).string(), plot.drawings[0].Standalone(PlotStyle())));
  return Ok();
}

Result<int> Write(const ReportFlags& flags, const Documents& documents) {
  if (!flags.html.empty()) HONE_RETURN_IF_ERROR(WriteTo(flags.html, documents.html()));
  if (!flags.markdown.empty()) HONE_RETURN_IF_ERROR(WriteTo(flags.markdown, documents.markdown()));
  if (!flags.csv.empty()) HONE_RETURN_IF_ERROR(WriteTo(flags.csv, documents.csv()));
  if (!flags.svg.empty()) HONE_RETURN_IF_ERROR(WritePlots(flags.svg, documents.plots()));
  return 0;
}

Result<int> WriteReport(const ReportFlags& flags) {
  if (flags.html.empty() && flags.svg.empty() && flags.markdown.empty() && flags.csv.empty())
    return Error{ErrorKind::kUsage, "name an output: --html FILE, --md [FILE], --csv [FILE] or --svg DIR"};
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::Open());
  const Result<SuiteRecord> suite = store->FindSuite(flags.what);
  if (suite.ok()) {
    HONE_ASSIGN_OR_RETURN(const SuiteData data, ReadSuiteData(*store, *suite));
    return Write(flags, {[&] { return SuiteHtml(data); }, [&] { return SuiteMarkdown(data); },
                         [&] { return SuiteCsv(data.summary); },
                         [&] {
                           std::vector<Plot> plots;
                           if (std::optional<Plot> plot = SuitePlotOf(data))
                             plots.push_back(std::move(*plot));
                           return plots;
                         }});
  }
  if (suite.error().kind != ErrorKind::kNotFound) return suite.error();
  HONE_ASSIGN_OR_RETURN(RunData data, ReadRunData(*store, flags.what));
  if (IsAbandoned(data.story.run)) data.story.run.status = "killed";
  return Write(flags, {[&] { return RunHtml(data); }, [&] { return RunMarkdown(data); },
                       [&] { return RunCsv(data.story); },
                       [&] {
                         const RunFigures figures = FiguresOf(data.story, data.calls);
                         std::vector<Plot> plots = RunPlots(figures);
                         if (std::optional<Plot> plot = LineagePlot(figures))
                           plots.push_back(std::move(*plot));
                         return plots;
                       }});
}

}  // namespace

void AddReportCommand(CommandTable& table) {
  Command& command = table.Add("report", "Write a run or a suite as an HTML page, Markdown, CSV or plots");
  auto flags = std::make_shared<ReportFlags>();
  command.Add("WHAT", &flags->what, "Run (name, folder, R<number>, last) or name of a suite").Required();
  command
      .Add("--html", &flags->html, "Self-contained HTML page that loads nothing; - writes to standard output")
      .Placeholder("FILE");
  command.Add("--md", &flags->markdown, "Markdown; without FILE it goes to standard output")
      .Placeholder("FILE")
      .WithoutValue("-");
  command
      .Add("--csv", &flags->csv,
           "One row per candidate, or per task of a suite; without FILE it goes to standard output")
      .Placeholder("FILE")
      .WithoutValue("-");
  command.Add("--svg", &flags->svg, "Folder for the plots, one SVG file each").Placeholder("DIR");
  command.Example("hone report last --html run.html");
  command.Example("hone report R12 --md --svg docs/images");
  command.Example("hone report suite-20260131-235959 --html suite.html --csv suite.csv");
  command.Runs([flags] { return WriteReport(*flags); });
}

}  // namespace hone

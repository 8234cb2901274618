// Reports of a run or a suite for archiving, sending and printing: one self-contained HTML file, Markdown for
// a README, CSV for a spreadsheet, and each plot as a file. The same store gives the same bytes.
#pragma once

#include <string>
#include <vector>

#include "report/plots/plots.h"
#include "report/run_report.h"
#include "report/suite_report.h"

namespace hone {

// The inputs of a report of a run.
struct RunData {
  RunStory story;
  std::vector<CallRecord> calls;
};
Result<RunData> ReadRunData(RunStore& store, const std::string& what);

std::string RunHtml(const RunData& data);
std::string RunMarkdown(const RunData& data);
// One row per candidate.
std::string RunCsv(const RunStory& story);

struct SuiteData {
  SuiteSummary summary;
  std::vector<RunData> runs;  // in the order of the summary's rows
};
Result<SuiteData> ReadSuiteData(RunStore& store, const SuiteRecord& suite);

std::string SuiteHtml(const SuiteData& data);
std::string SuiteMarkdown(const SuiteData& data);
std::optional<Plot> SuitePlotOf(const SuiteData& data);

}  // namespace hone

// A run as text: its result, every candidate with its lineage in the order of the run, the decisions with
// their reasons, and the cost.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/terminal.h"
#include "store/run_store.h"

namespace hone {

struct RunStory {
  RunRecord run;
  std::vector<CandidateRecord> candidates;
  std::vector<DecisionRecord> decisions;
  std::vector<CallRecord> calls;
  UsageTotals usage;
};
Result<RunStory> ReadStory(RunStore& store, const std::string& what);

// One line of a candidate, without line end.
std::string CandidateLine(const CandidateRecord& candidate, const Style& style);
std::string RunText(const RunStory& story, const Style& style, bool verbose);
// One line for one run.
std::string RunLine(const RunRecord& run, bool abandoned, const Style& style);
// A table of runs.
struct RunListRow {
  RunRecord run;
  bool abandoned = false;  // it is "running", but no process executes it
  std::vector<std::string> tags;
};
std::string RunListText(const std::vector<RunListRow>& rows, const Style& style);
OrderedJson RunToJson(const RunRecord& run);

}  // namespace hone

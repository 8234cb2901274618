// A run for a person: what came of it, every candidate in the order of the run with its lineage, what was
// decided and why, and what it cost.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
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
// One line per run, for lists.
std::string RunLine(const RunRecord& run, bool abandoned, const Style& style);
OrderedJson RunToJson(const RunRecord& run);

}  // namespace hone

// Converts records to values for the templates: formatted numbers, a colour class for each verdict, and
// links. Makes no HTML.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "dashboard/live_hub.h"
#include "store/overview.h"

namespace hone {

std::string RunLink(int64_t id);
std::string CandidateLink(int64_t run_id, const std::string& key);
std::string TaskLink(const std::string& task);

// "2.31x", or "-" if nothing was timed.
std::string SpeedText(double ratio);
// "[2.10, 2.50]", or empty.
std::string IntervalText(double low, double high);
// Colour class: "ok", "bad", "same", "live", "idle".
std::string ToneOfVerdict(const std::string& verdict);
std::string ToneOfStatus(const std::string& status);
// Colour class of a run's result (store/run_result.h). Only an accepted candidate is "ok".
std::string ToneOfResult(const std::string& result);
// "done", or "killed" for a run without a live process.
std::string StatusOf(const RunRecord& run, bool abandoned);
// "2026-01-31 23:59" for a stored time.
std::string ShortTime(const std::string& utc);

Json RunValues(const RunRecord& run, bool abandoned);
// `all` is needed for its depth in the lineage.
Json CandidateValues(const CandidateRecord& candidate, const std::vector<CandidateRecord>& all,
                     const std::string& best_key);
// Tags with links to the runs that have them.
Json TagValues(const std::vector<std::string>& tags);
// Limits and the used part of each. Empty if the run has no limits.
Json BudgetValues(const LiveRun& live);
Json UsageValues(const UsageTotals& usage);
// Turns "  label   value" lines into pairs.
Json PairsOf(const std::string& text);

// Parsed JSON, or null.
Json JsonOrNull(const std::string& text);

}  // namespace hone

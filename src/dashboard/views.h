// Records as values for the templates: formatted numbers, a class of colour for each verdict, and links. No
// HTML is made here.
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

// "2.31x"; "-" where nothing was timed.
std::string SpeedText(double ratio);
// "[2.10, 2.50]", or empty.
std::string IntervalText(double low, double high);
// Class of colour: "ok", "bad", "same", "live", "idle".
std::string ToneOfVerdict(const std::string& verdict);
std::string ToneOfStatus(const std::string& status);
// Of a run's result (store/run_result.h). Only an accepted candidate is "ok".
std::string ToneOfResult(const std::string& result);
// "done", or "killed" for a run that no process works on any more.
std::string StatusOf(const RunRecord& run, bool abandoned);
// "2026-01-31 23:59" of a stored time.
std::string ShortTime(const std::string& utc);

Json RunValues(const RunRecord& run, bool abandoned);
// `all` is for its depth in the lineage.
Json CandidateValues(const CandidateRecord& candidate, const std::vector<CandidateRecord>& all,
                     const std::string& best_key);
// Tags with links to the runs that have them.
Json TagValues(const std::vector<std::string>& tags);
// Limits and how much of each is used; empty where the run has no limits.
Json BudgetValues(const LiveRun& live);
Json UsageValues(const UsageTotals& usage);
// A text of "  label   value" lines as pairs.
Json PairsOf(const std::string& text);

// Parsed, or null.
Json JsonOrNull(const std::string& text);

}  // namespace hone

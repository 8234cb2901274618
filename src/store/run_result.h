// The result of a run, in one word. The store derives it from the run's status, its best candidate and the
// verdicts whenever it saves a run, so that every list, mean and page shows the same result.
//
// "PyTorch is kept" is a finding about candidates that were right. A run in which nothing could be tried, or
// which failed, found nothing, and must not be shown or counted as if it had.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

struct sqlite3;

namespace hone {

struct CandidateRecord;
struct RunRecord;

constexpr char kAccepted[] = "accepted";           // a candidate was accepted
constexpr char kKeptPyTorch[] = "kept_pytorch";    // candidates were right, and none was faster
constexpr char kNoneRight[] = "none_right";        // candidates were judged, and none was right
constexpr char kCannotJudge[] = "cannot_judge";    // none was right, and the task could not judge some
constexpr char kNothingTried[] = "nothing_tried";  // no candidate could be judged, or none could be run
constexpr char kRunFailed[] = "failed";            // the run ended with an error, and nothing is accepted

// One of the words above, or "" while the run goes on.
std::string ResultOf(const RunRecord& run, const std::vector<CandidateRecord>& candidates);

// What the run says to use: the key of its best candidate; kPyTorch where candidates were judged and none was
// accepted; empty where it says nothing, because it failed, tried nothing, cannot judge or is not over.
constexpr char kPyTorch[] = "pytorch";
std::string AnswerOf(const std::string& best_key, const std::string& result);

// For tables: "PyTorch kept", "none right", "cannot judge", "nothing tried", "failed", "not finished".
const char* ResultWords(const std::string& result);

// Whether means over many tasks count the run. Without an accepted candidate it counts as 1x, so that giving
// up does not raise a mean. Runs that failed, tried nothing or are not over are counted separately.
bool CountsInMeans(const std::string& result);

// Writes the result into the row of one run and returns it.
Result<std::string> SaveResult(sqlite3* handle, int64_t run_id);

}  // namespace hone

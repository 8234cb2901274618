// The result of a run, in one word. The store derives it from the run's status, its best candidate and the
// verdicts whenever it saves a run, so that every list, mean and page shows the same result.
//
// "PyTorch is kept" means that right candidates were found but none was faster. A run that failed or could
// try nothing must not be shown or counted like that.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

struct sqlite3;

namespace hone {

struct CandidateRecord;
struct RunRecord;

constexpr char kAccepted[] = "accepted";         // a candidate was accepted
constexpr char kKeptPyTorch[] = "kept_pytorch";  // candidates were right, but none was faster
constexpr char kNoneRight[] = "none_right";      // candidates were judged, but none was right
constexpr char kCannotJudge[] = "cannot_judge";  // none was right, and the task could not judge some of them
constexpr char kNothingTried[] = "nothing_tried";  // no candidate could be judged or run
constexpr char kRunFailed[] = "failed";  // the run ended with an error and has no accepted candidate

// One of the words above, or "" while the run continues.
std::string ResultOf(const RunRecord& run, const std::vector<CandidateRecord>& candidates);

// What the run recommends: the key of its best candidate, or kPyTorch if candidates were judged and none was
// accepted. Empty if the run failed, tried nothing, cannot judge or has not ended.
constexpr char kPyTorch[] = "pytorch";
std::string AnswerOf(const std::string& best_key, const std::string& result);

// For tables: "PyTorch kept", "none right", "cannot judge", "nothing tried", "failed", "not finished".
const char* ResultWords(const std::string& result);

// Whether means over many tasks include the run. A run without an accepted candidate counts as 1x, so that
// giving up does not raise a mean. Runs that failed, tried nothing or have not ended are counted separately.
bool CountsInMeans(const std::string& result);

// Writes the result into the row of one run and returns it.
Result<std::string> SaveResult(sqlite3* handle, int64_t run_id);

}  // namespace hone

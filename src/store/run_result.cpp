#include "store/run_result.h"

#include <algorithm>

#include "evaluation/task_folder_blame.h"
#include "store/run_store.h"
#include "store/sql.h"
#include "verdict/reasons.h"

namespace hone {

namespace {

// True for a task that reads a file beside it. It breaks every candidate, because each is one file and is
// judged alone. Such a verdict concerns the task's folder, not the candidate.
bool MissesAFile(const CandidateRecord& one) {
  return one.verdict == NameOf(Decision::kRejected) && BlamesTaskFolder(one.detail);
}

}  // namespace

std::string ResultOf(const RunRecord& run, const std::vector<CandidateRecord>& candidates) {
  if (run.status == "running") return "";
  bool accepted = false, right = false, unknown = false, tried = false;
  for (const CandidateRecord& one : candidates) {
    if (one.phase == "zero") continue;
    accepted = accepted || one.accepted();
    right = right || one.right();
    unknown = unknown || one.unknown();
    tried = tried || (one.judged() && !MissesAFile(one));
  }
  return accepted                 ? kAccepted
         : run.status == "failed" ? kRunFailed
         : !tried                 ? kNothingTried
         : right                  ? kKeptPyTorch
         : unknown                ? kCannotJudge
                                  : kNoneRight;
}

std::string AnswerOf(const std::string& best_key, const std::string& result) {
  if (!best_key.empty()) return best_key;
  return result == kKeptPyTorch || result == kNoneRight ? kPyTorch : "";
}

const char* ResultWords(const std::string& result) {
  return result == kAccepted       ? "accepted"
         : result == kKeptPyTorch  ? "PyTorch kept"
         : result == kNoneRight    ? "none right"
         : result == kCannotJudge  ? "cannot judge"
         : result == kNothingTried ? "nothing tried"
         : result == kRunFailed    ? "failed"
                                   : "not finished";
}

bool CountsInMeans(const std::string& result) {
  return result == kAccepted || result == kKeptPyTorch || result == kNoneRight;
}

Result<std::string> SaveResult(sqlite3* handle, int64_t run_id) {
  RunRecord run;
  std::vector<CandidateRecord> candidates;
  // Both queries end before the update: SQLite does not let a reader wait when it turns into a writer.
  {
    Statement query(handle, "SELECT status, result FROM run WHERE id=?");
    query.Bind(1, run_id);
    if (query.ok() && query.Step() == SQLITE_ROW) {
      run.status = query.Text(0);
      run.result = query.Text(1);
    }
  }
  if (run.status != "running") {
    Statement query(handle, "SELECT phase, verdict, reason, detail FROM candidate WHERE run_id=?");
    query.Bind(1, run_id);
    int code = SQLITE_ERROR;
    while (query.ok() && (code = query.Step()) == SQLITE_ROW) {
      CandidateRecord& one = candidates.emplace_back();
      one.phase = query.Text(0);
      one.verdict = query.Text(1);
      one.reason = query.Text(2);
      one.detail = query.Text(3);
    }
    if (code != SQLITE_DONE) return SqlError(handle, "cannot read the store");
  }
  std::string result = ResultOf(run, candidates);
  if (result == run.result) return result;
  Statement update(handle, "UPDATE run SET result=? WHERE id=?");
  update.BindAll(result, run_id);
  if (!update.ok() || update.Step() != SQLITE_DONE) return SqlError(handle, "cannot save the run");
  return result;
}

}  // namespace hone

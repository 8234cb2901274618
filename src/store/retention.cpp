#include "store/retention.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/clock.h"
#include "store/sql.h"
#include "verdict/reasons.h"

namespace hone {

namespace {

constexpr double kDay = 86400;

std::string Before(const RetentionRules& rules, double days) {
  return UtcTimestamp(rules.now - static_cast<int64_t>(days * kDay));
}

}  // namespace

const char* KeptName(Kept kept) {
  switch (kept) {
    case Kept::kNot:
      return "";
    case Kept::kRunning:
      return "running";
    case Kept::kYoung:
      return "too new";
    case Kept::kUnfinished:
      return "unfinished and less than a day old";
    case Kept::kBest:
      return "best of its task and device";
    case Kept::kSuite:
      return "member of a suite";
  }
  return "";
}

std::vector<Kept> PlanRuns(const std::vector<RunRecord>& runs, const std::set<int64_t>& at_work,
                           const RetentionRules& rules) {
  const std::string limit = Before(rules, rules.days);
  const std::string limit_unfinished = Before(rules, std::max(rules.days, 1.0));
  using Group = std::tuple<std::string, std::string, std::string>;
  std::map<Group, const RunRecord*> best;
  for (const RunRecord& run : runs) {
    if (run.best_key.empty() || run.vs_best <= 0) continue;
    const RunRecord*& so_far = best[{run.task, run.task_sha256, run.device}];
    if (so_far == nullptr || run.vs_best > so_far->vs_best) so_far = &run;
  }
  std::vector<Kept> plan;
  for (const RunRecord& run : runs) {
    const std::string& last = std::max(run.created, run.finished);
    const auto leader = best.find({run.task, run.task_sha256, run.device});
    if (at_work.count(run.id) != 0)
      plan.push_back(Kept::kRunning);
    else if (last > limit)
      plan.push_back(Kept::kYoung);
    else if (run.status == "running" && last > limit_unfinished)
      plan.push_back(Kept::kUnfinished);
    else if (leader != best.end() && leader->second == &run)
      plan.push_back(Kept::kBest);
    else if (run.suite_id > 0 && !rules.suites)
      plan.push_back(Kept::kSuite);
    else
      plan.push_back(Kept::kNot);
  }
  return plan;
}

std::vector<Kept> PlanVerdicts(const std::vector<VerdictRecord>& verdicts, const RetentionRules& rules) {
  const std::string limit = Before(rules, rules.days);
  std::map<std::pair<std::string, std::string>, const VerdictRecord*> best;
  for (const VerdictRecord& one : verdicts) {
    if (one.verdict != NameOf(Decision::kAccepted)) continue;
    const VerdictRecord*& so_far = best[{one.task, one.device}];
    if (so_far == nullptr || one.vs_best > so_far->vs_best) so_far = &one;
  }
  std::vector<Kept> plan;
  for (const VerdictRecord& one : verdicts) {
    const auto leader = best.find({one.task, one.device});
    plan.push_back(one.created > limit                              ? Kept::kYoung
                   : leader != best.end() && leader->second == &one ? Kept::kBest
                                                                    : Kept::kNot);
  }
  return plan;
}

Result<bool> CompactStore(RunStore& store) {
  sqlite3* handle = store.store().handle();
  // Other processes wait ten seconds before they give up. This one must not make them wait that long.
  sqlite3_busy_timeout(handle, 2'000);
  const int code = sqlite3_exec(handle, "VACUUM", nullptr, nullptr, nullptr);
  const Error error = SqlError(handle, "cannot make the store smaller");
  if (code == SQLITE_OK)
    sqlite3_wal_checkpoint_v2(handle, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  sqlite3_busy_timeout(handle, 10'000);
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED) return false;
  if (code != SQLITE_OK) return error;
  return true;
}

Status DeleteVerdict(RunStore& store, int64_t id) {
  sqlite3* handle = store.store().handle();
  Statement remove(handle, "DELETE FROM verdict WHERE id=?");
  remove.Bind(1, id);
  if (!remove.ok() || remove.Step() != SQLITE_DONE) return SqlError(handle, "cannot delete a verdict");
  return Ok();
}

Result<int64_t> DeleteEmptySuites(RunStore& store, const std::string& created_before) {
  sqlite3* handle = store.store().handle();
  Statement remove(handle,
                   "DELETE FROM suite WHERE created < ? AND NOT EXISTS (SELECT 1 FROM run WHERE "
                   "run.suite_id = suite.id)");
  remove.Bind(1, created_before);
  if (!remove.ok() || remove.Step() != SQLITE_DONE) return SqlError(handle, "cannot delete suites");
  return static_cast<int64_t>(sqlite3_changes(handle));
}

}  // namespace hone

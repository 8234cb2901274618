#include "store/known_verdict.h"

#include <fmt/format.h>

#include <set>

#include "base/json.h"
#include "store/sql.h"
#include "verdict/reasons.h"

namespace hone {

namespace {

// The interval contains 1 either because the speeds are equal or because the measurement was noisy. Up to
// this ratio of its ends, the speeds count as equal.
constexpr double kPreciseInterval = 1.1;

bool IsPrecise(const Json& record) {
  const Json& ends = GetMember(GetMember(record, "speedup"), "ci95");
  // A verdict that did not judge speed would not judge it the next time either.
  if (!ends.is_array() || ends.size() != 2)
    return GetString(record, "reason") == NameOf(Reason::kSpeedNotJudged);
  return ends[0].get<double>() > 0 && ends[1].get<double>() <= kPreciseInterval * ends[0].get<double>();
}

}  // namespace

bool IsSettled(const Json& record) {
  const std::string verdict = GetString(record, "verdict");
  if (verdict == NameOf(Decision::kAccepted)) return true;
  if (verdict == NameOf(Decision::kNoDifference)) return IsPrecise(record);
  // Reasons that depend on time or chance are not listed: timeout, crashed, out-of-memory, unsynchronised,
  // too-fast and slower (the machine may be the cause), nondeterministic and stale-result (another evaluation
  // may not show them), escaped (the permissions depend on the machine), import-failed (a package may have
  // been installed since).
  static const std::set<std::string> kRepeatable = {
      NameOf(Reason::kBuildFailed),   NameOf(Reason::kWrongOutput),
      NameOf(Reason::kWrongShape),    NameOf(Reason::kWrongDtype),
      NameOf(Reason::kNonFinite),     NameOf(Reason::kUnwrittenOutput),
      NameOf(Reason::kInputModified), NameOf(Reason::kWeightsNotTransferred),
      NameOf(Reason::kTimerTampering)};
  return verdict == NameOf(Decision::kRejected) && kRepeatable.count(GetString(record, "reason")) != 0;
}

namespace {

bool IsByLintAlone(const Json& record) {
  return GetString(GetMember(record, "gates"), "lint") == "fail";
}

Result<std::optional<KnownVerdict>> FindOfBench(Store& store, const std::string& task,
                                                const std::string& conditions) {
  std::vector<int64_t> ids;
  {
    Statement rows(store.handle(),
                   "SELECT id FROM verdict WHERE task=? AND instr(json, ?) > 0 ORDER BY id DESC");
    rows.BindAll(task, conditions);
    if (!rows.ok()) return SqlError(store.handle(), "cannot look for a known verdict");
    while (rows.Step() == SQLITE_ROW) ids.push_back(rows.Integer(0));
  }
  for (const int64_t id : ids) {
    HONE_ASSIGN_OR_RETURN(const VerdictRecord kept, store.Verdict(id));
    Result<Json> record = ParseJson(kept.json);
    if (!record.ok() || GetString(GetMember(*record, "provenance"), "conditions") != conditions) continue;
    if (IsSettled(*record))
      return std::optional(KnownVerdict{fmt::format("V{}", id), kept.created, std::move(*record)});
  }
  return std::optional<KnownVerdict>();
}

}  // namespace

Result<std::optional<KnownVerdict>> FindKnownAnywhere(Store& store, const std::string& task,
                                                      const std::string& candidate_sha256,
                                                      const std::string& conditions, LintOnly lint_only) {
  if (conditions.empty()) return std::optional<KnownVerdict>();
  {
    Statement rows(store.handle(),
                   "SELECT run_id, key, created, json FROM candidate WHERE sha256=? AND instr(json, ?) > 0 "
                   "ORDER BY id DESC");
    rows.BindAll(candidate_sha256, conditions);
    if (!rows.ok()) return SqlError(store.handle(), "cannot look for a known verdict");
    while (rows.Step() == SQLITE_ROW) {
      Result<Json> record = ParseJson(rows.Text(3));
      if (!record.ok() || GetString(GetMember(*record, "provenance"), "conditions") != conditions ||
          !IsSettled(*record) || (lint_only == LintOnly::kDoesNot && IsByLintAlone(*record)))
        continue;
      // If this verdict was taken from the store too, report its origin.
      const Json& origin = GetMember(*record, "from_store");
      return std::optional(
          KnownVerdict{GetString(origin, "id", fmt::format("R{} {}", rows.Integer(0), rows.Text(1))),
                       GetString(origin, "created", rows.Text(2)), std::move(*record)});
    }
  }
  return FindOfBench(store, task, conditions);
}

}  // namespace hone

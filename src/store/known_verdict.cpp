#include "store/known_verdict.h"

#include <set>

#include "store/sql.h"

namespace hone {

namespace {

// The interval contains 1 for one of two reasons: the speeds are the same, or the measurement was noisy. Up
// to this ratio of its ends it is the first.
constexpr double kPreciseInterval = 1.1;

bool IsPrecise(const Json& record) {
  const Json& ends = GetMember(GetMember(record, "speedup"), "ci95");
  // Speed that was not judged at all is the same the next time.
  if (!ends.is_array() || ends.size() != 2) return GetString(record, "reason") == "speed-not-judged";
  return ends[0].get<double>() > 0 && ends[1].get<double>() <= kPreciseInterval * ends[0].get<double>();
}

}  // namespace

bool IsSettled(const Json& record) {
  const std::string verdict = GetString(record, "verdict");
  if (verdict == "accepted") return true;
  if (verdict == "no_difference") return IsPrecise(record);
  // Left out: timeout, crashed, out-of-memory, unsynchronised, too-fast (the machine may be the cause),
  // escaped (what is allowed depends on the machine), import-failed (a package may have been installed
  // since).
  static const std::set<std::string> kRepeatable = {
      "build-failed",     "wrong-output",   "wrong-shape",      "wrong-dtype",  "non-finite",
      "unwritten-output", "input-modified", "nondeterministic", "stale-result", "weights-not-transferred",
      "timer-tampering",  "slower"};
  return verdict == "rejected" && kRepeatable.count(GetString(record, "reason")) != 0;
}

Result<std::optional<VerdictRecord>> FindKnownVerdict(Store& store, const std::string& task,
                                                      const std::string& conditions) {
  if (conditions.empty()) return std::optional<VerdictRecord>();
  std::vector<int64_t> ids;
  {
    Statement rows(store.handle(),
                   "SELECT id FROM verdict WHERE task=? AND instr(json, ?) > 0 ORDER BY id DESC");
    rows.BindAll(task, conditions);
    if (!rows.ok()) return SqlError(store.handle(), "cannot look for a known verdict");
    while (rows.Step() == SQLITE_ROW) ids.push_back(rows.Integer(0));
  }
  for (const int64_t id : ids) {
    HONE_ASSIGN_OR_RETURN(VerdictRecord record, store.Verdict(id));
    const Result<Json> json = ParseJson(record.json);
    if (!json.ok() || GetString(GetMember(*json, "provenance"), "conditions") != conditions) continue;
    if (IsSettled(*json)) return std::optional(std::move(record));
  }
  return std::optional<VerdictRecord>();
}

}  // namespace hone

#include "store/run_store.h"

#include <fmt/format.h>

#include <charconv>

#include "base/clock.h"
#include "base/text.h"
#include "store/record_io.h"
#include "store/run_result.h"
#include "store/sql.h"

namespace hone {

namespace {

DecisionRecord ReadDecision(Statement& row) {
  return DecisionRecord{row.Text(0), row.Text(1), row.Text(2), row.Text(3), row.Text(4)};
}

SuiteRecord ReadSuite(Statement& row) {
  return SuiteRecord{row.Integer(0), row.Text(1), row.Text(2), row.Text(3)};
}

template <class Record, Extent kExtent = Extent::kWhole>
Record Read(Statement& row) {
  return ReadRecord<Record>(row, kExtent);
}

template <class Record>
std::string Select(const std::string& where, Extent extent = Extent::kWhole) {
  return fmt::format("SELECT {} FROM {} {}", SelectList<Record>(extent), TableOf<Record>(), where);
}

Status Finish(sqlite3* handle, Statement& statement, const char* doing) {
  if (!statement.ok() || statement.Step() != SQLITE_DONE) return SqlError(handle, doing);
  return Ok();
}

template <class T>
Result<std::vector<T>> All(sqlite3* handle, Statement& query, T (*read)(Statement&)) {
  std::vector<T> rows;
  int code = SQLITE_ERROR;
  while (query.ok() && (code = query.Step()) == SQLITE_ROW) rows.push_back(read(query));
  if (code != SQLITE_DONE) return SqlError(handle, "cannot read the store");
  return rows;
}

template <class T>
Result<std::optional<T>> One(sqlite3* handle, Statement& query, T (*read)(Statement&)) {
  HONE_ASSIGN_OR_RETURN(std::vector<T> rows, All(handle, query, read));
  if (rows.empty()) return std::optional<T>();
  return std::optional<T>(std::move(rows.front()));
}

}  // namespace

Result<std::unique_ptr<RunStore>> RunStore::Open(const fs::path& path) {
  HONE_ASSIGN_OR_RETURN(Store store, Store::Open(path));
  return std::unique_ptr<RunStore>(new RunStore(std::move(store)));
}

Result<std::unique_ptr<RunStore>> RunStore::OpenInMemory() {
  HONE_ASSIGN_OR_RETURN(Store store, Store::OpenInMemory());
  return std::unique_ptr<RunStore>(new RunStore(std::move(store)));
}

Result<std::unique_ptr<RunStore>> RunStore::OpenReadOnly(const fs::path& path) {
  HONE_ASSIGN_OR_RETURN(Store store, Store::OpenReadOnly(path));
  return std::unique_ptr<RunStore>(new RunStore(std::move(store)));
}

Result<int64_t> RunStore::AddRun(const RunRecord& run, const std::function<Status(int64_t)>& before_seen) {
  const std::scoped_lock lock(mutex_);
  return InTransaction(handle(), [&]() -> Result<int64_t> {
    Statement insert(handle(), InsertSql<RunRecord>().c_str());
    BindInsert(insert, run);
    HONE_RETURN_IF_ERROR(Finish(handle(), insert, "cannot save the run"));
    const int64_t id = sqlite3_last_insert_rowid(handle());
    HONE_RETURN_IF_ERROR(SaveResult(handle(), id));
    if (before_seen) HONE_RETURN_IF_ERROR(before_seen(id));
    return id;
  });
}

Result<std::string> RunStore::UpdateRun(const RunRecord& run) {
  const std::scoped_lock lock(mutex_);
  return InTransaction(handle(), [&]() -> Result<std::string> {
    Statement update(handle(), fmt::format("UPDATE run SET {} WHERE id=?", UpdateList<RunRecord>()).c_str());
    update.Bind(BindUpdate(update, run), run.id);
    HONE_RETURN_IF_ERROR(Finish(handle(), update, "cannot save the run"));
    return SaveResult(handle(), run.id);
  });
}

Result<RunRecord> RunStore::FindRun(const std::string& what) {
  const std::scoped_lock lock(mutex_);
  auto find = [&](const char* where, const auto& value) -> Result<std::vector<RunRecord>> {
    Statement query(handle(), Select<RunRecord>(where).c_str());
    query.Bind(1, value);
    return All(handle(), query, Read<RunRecord>);
  };
  int64_t number = 0;
  const bool numbered =
      what.size() > 1 && (what[0] == 'R' || what[0] == 'r') &&
      std::from_chars(what.data() + 1, what.data() + what.size(), number).ptr == what.data() + what.size();
  if (what == "last") {
    HONE_ASSIGN_OR_RETURN(std::vector<RunRecord> rows, find("ORDER BY id DESC LIMIT ?", 1));
    if (!rows.empty()) return std::move(rows.front());
    return Error{ErrorKind::kNotFound, "there is no run yet; try: hone optimize TASK"};
  }
  if (numbered) {
    HONE_ASSIGN_OR_RETURN(std::vector<RunRecord> rows, find("WHERE id=?", number));
    if (!rows.empty()) return std::move(rows.front());
  }
  std::error_code ignored;
  std::string name = what;
  while (name.size() > 1 && name.back() == '/') name.pop_back();
  const std::string folder = fs::weakly_canonical(name, ignored).string();
  HONE_ASSIGN_OR_RETURN(std::vector<RunRecord> by_folder,
                        find("WHERE folder=? AND folder<>'' ORDER BY id DESC", folder));
  if (!by_folder.empty()) return std::move(by_folder.front());
  HONE_ASSIGN_OR_RETURN(std::vector<RunRecord> by_name,
                        find("WHERE name=?", fs::path(name).filename().string()));
  if (!by_name.empty()) return std::move(by_name.front());
  HONE_ASSIGN_OR_RETURN(std::vector<RunRecord> begins,
                        find("WHERE substr(name, 1, length(?1)) = ?1 LIMIT 3", name));
  if (begins.size() == 1 && !name.empty()) return std::move(begins.front());
  if (begins.size() > 1)
    return Error{ErrorKind::kUsage,
                 fmt::format("several runs begin with '{}': {}, {}…; give more of the name", name,
                             begins[0].name, begins[1].name)};
  return Error{ErrorKind::kNotFound, fmt::format("there is no run '{}' in the store; see: hone runs", what)};
}

Result<std::vector<RunRecord>> RunStore::Runs(int most, int64_t suite_id) {
  const std::scoped_lock lock(mutex_);
  Statement query(
      handle(),
      Select<RunRecord>("WHERE ?2 = 0 OR suite_id = ?2 ORDER BY id DESC LIMIT ?1", Extent::kList).c_str());
  query.BindAll(most, suite_id);
  return All(handle(), query, Read<RunRecord, Extent::kList>);
}

Result<std::vector<RunRecord>> RunStore::RunsInFolder(const std::string& folder) {
  const std::scoped_lock lock(mutex_);
  Statement query(handle(), Select<RunRecord>("WHERE folder=?").c_str());
  query.Bind(1, folder);
  return All(handle(), query, Read<RunRecord>);
}

Result<RunRecord> RunStore::RunSummary(int64_t id) {
  const std::scoped_lock lock(mutex_);
  Statement query(handle(), Select<RunRecord>("WHERE id = ?", Extent::kList).c_str());
  query.Bind(1, id);
  HONE_ASSIGN_OR_RETURN(std::optional<RunRecord> run, One(handle(), query, Read<RunRecord, Extent::kList>));
  if (run) return std::move(*run);
  return Error{ErrorKind::kNotFound, fmt::format("there is no run R{} in the store", id)};
}

int64_t RunStore::DataVersion() {
  const std::scoped_lock lock(mutex_);
  Statement query(handle(), "PRAGMA data_version");
  return query.ok() && query.Step() == SQLITE_ROW ? query.Integer(0) : -1;
}

Status RunStore::DeleteRun(int64_t id) {
  const std::scoped_lock lock(mutex_);
  Statement remove(handle(), "DELETE FROM run WHERE id=?");
  remove.Bind(1, id);
  return Finish(handle(), remove, "cannot delete the run");
}

Status RunStore::SaveCall(const CallRecord& call) {
  const std::scoped_lock lock(mutex_);
  Statement insert(handle(), InsertSql<CallRecord>("INSERT OR REPLACE").c_str());
  BindInsert(insert, call);
  return Finish(handle(), insert, "cannot save a model call");
}

Result<std::optional<CallRecord>> RunStore::Call(int64_t run_id, const std::string& key) {
  const std::scoped_lock lock(mutex_);
  Statement query(handle(), Select<CallRecord>("WHERE run_id=? AND key=?").c_str());
  query.BindAll(run_id, key);
  return One(handle(), query, Read<CallRecord>);
}

Result<std::vector<CallRecord>> RunStore::Calls(int64_t run_id) {
  const std::scoped_lock lock(mutex_);
  Statement query(handle(), Select<CallRecord>("WHERE run_id=? ORDER BY id").c_str());
  query.Bind(1, run_id);
  return All(handle(), query, Read<CallRecord>);
}

Result<std::vector<CallRecord>> RunStore::CallSummaries(int64_t run_id) {
  const std::scoped_lock lock(mutex_);
  Statement query(handle(), Select<CallRecord>("WHERE run_id=? ORDER BY id", Extent::kList).c_str());
  query.Bind(1, run_id);
  return All(handle(), query, Read<CallRecord, Extent::kList>);
}

Result<UsageTotals> RunStore::Usage(int64_t run_id) {
  const std::scoped_lock lock(mutex_);
  Statement query(handle(), Select<UsageTotals>("WHERE run_id=?").c_str());
  query.Bind(1, run_id);
  if (!query.ok() || query.Step() != SQLITE_ROW) return SqlError(handle(), "cannot read the store");
  return ReadRecord<UsageTotals>(query, Extent::kWhole);
}

Status RunStore::SaveCandidate(const CandidateRecord& one) {
  const std::scoped_lock lock(mutex_);
  // Keeps the id of an existing row, so that the order of first appearance stays.
  Statement insert(handle(), fmt::format("{} ON CONFLICT(run_id, key) DO UPDATE SET {}",
                                         InsertSql<CandidateRecord>(), UpsertList<CandidateRecord>())
                                 .c_str());
  BindInsert(insert, one);
  HONE_RETURN_IF_ERROR(Finish(handle(), insert, "cannot save a candidate"));
  HONE_RETURN_IF_ERROR(SaveResult(handle(), one.run_id));
  return Ok();
}

Result<std::optional<CandidateRecord>> RunStore::Candidate(int64_t run_id, const std::string& key) {
  const std::scoped_lock lock(mutex_);
  Statement query(handle(), Select<CandidateRecord>("WHERE run_id=? AND key=?").c_str());
  query.BindAll(run_id, key);
  return One(handle(), query, Read<CandidateRecord>);
}

Result<std::vector<CandidateRecord>> RunStore::Candidates(int64_t run_id) {
  const std::scoped_lock lock(mutex_);
  Statement query(handle(), Select<CandidateRecord>("WHERE run_id=? ORDER BY id").c_str());
  query.Bind(1, run_id);
  return All(handle(), query, Read<CandidateRecord>);
}

Result<std::vector<CandidateRecord>> RunStore::CandidateSummaries(int64_t run_id) {
  const std::scoped_lock lock(mutex_);
  Statement query(handle(), Select<CandidateRecord>("WHERE run_id=? ORDER BY id", Extent::kList).c_str());
  query.Bind(1, run_id);
  return All(handle(), query, Read<CandidateRecord, Extent::kList>);
}

Status RunStore::SaveDecision(int64_t run_id, const DecisionRecord& decision) {
  const std::scoped_lock lock(mutex_);
  Statement insert(handle(),
                   "INSERT OR IGNORE INTO decision (run_id, key, created, phase, text, json) "
                   "VALUES (?,?,?,?,?,?)");
  insert.BindAll(run_id, decision.key, decision.created, decision.phase, decision.text, decision.json);
  return Finish(handle(), insert, "cannot save a decision");
}

Result<std::optional<DecisionRecord>> RunStore::Decision(int64_t run_id, const std::string& key) {
  const std::scoped_lock lock(mutex_);
  Statement query(handle(), "SELECT key, created, phase, text, json FROM decision WHERE run_id=? AND key=?");
  query.BindAll(run_id, key);
  return One(handle(), query, ReadDecision);
}

Result<std::vector<DecisionRecord>> RunStore::Decisions(int64_t run_id) {
  const std::scoped_lock lock(mutex_);
  Statement query(handle(),
                  "SELECT key, created, phase, text, json FROM decision WHERE run_id=? ORDER BY id");
  query.Bind(1, run_id);
  return All(handle(), query, ReadDecision);
}

Status RunStore::AddConsole(int64_t run_id, const std::string& line) {
  const std::scoped_lock lock(mutex_);
  Statement insert(handle(), "INSERT INTO console (run_id, created, line) VALUES (?,?,?)");
  insert.BindAll(run_id, UtcTimestamp(), line);
  return Finish(handle(), insert, "cannot save a console line");
}

Result<std::vector<std::pair<int64_t, std::string>>> RunStore::Console(int64_t run_id, int64_t after,
                                                                       int most) {
  const std::scoped_lock lock(mutex_);
  Statement query(handle(), "SELECT id, line FROM console WHERE run_id=? AND id>? ORDER BY id LIMIT ?");
  query.BindAll(run_id, after, most);
  return All<std::pair<int64_t, std::string>>(
      handle(), query, [](Statement& row) { return std::pair(row.Integer(0), row.Text(1)); });
}

Result<int64_t> RunStore::AddSuite(const SuiteRecord& suite) {
  const std::scoped_lock lock(mutex_);
  Statement insert(handle(), "INSERT INTO suite (name, created, options) VALUES (?,?,?)");
  insert.BindAll(suite.name, suite.created, suite.options);
  HONE_RETURN_IF_ERROR(Finish(handle(), insert, "cannot save the suite"));
  return static_cast<int64_t>(sqlite3_last_insert_rowid(handle()));
}

Result<SuiteRecord> RunStore::FindSuite(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  Statement query(handle(), "SELECT id, name, created, options FROM suite WHERE name=?");
  query.Bind(1, name);
  HONE_ASSIGN_OR_RETURN(std::optional<SuiteRecord> found, One<SuiteRecord>(handle(), query, ReadSuite));
  if (found) return std::move(*found);
  return Error{ErrorKind::kNotFound, fmt::format("there is no suite '{}' in the store", name)};
}

Result<SuiteRecord> RunStore::SuiteById(int64_t id) {
  const std::scoped_lock lock(mutex_);
  Statement query(handle(), "SELECT id, name, created, options FROM suite WHERE id=?");
  query.Bind(1, id);
  HONE_ASSIGN_OR_RETURN(std::optional<SuiteRecord> found, One<SuiteRecord>(handle(), query, ReadSuite));
  if (found) return std::move(*found);
  return Error{ErrorKind::kNotFound, "there is no such suite in the store"};
}

}  // namespace hone

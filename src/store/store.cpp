#include "store/store.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "store/record_io.h"
#include "store/run_result.h"
#include "store/sql.h"

namespace hone {

namespace {

// Step i migrates the schema from version i to i + 1.
constexpr const char* kMigrations[] = {
    R"sql(
      CREATE TABLE verdict (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        created TEXT NOT NULL,
        task TEXT NOT NULL,
        candidate TEXT NOT NULL,
        target TEXT NOT NULL,
        device TEXT NOT NULL,
        verdict TEXT NOT NULL,
        reason TEXT NOT NULL,
        vs_best REAL NOT NULL,
        vs_eager REAL NOT NULL,
        json TEXT NOT NULL
      );
      CREATE INDEX verdict_by_task ON verdict(task, id);
    )sql",
    R"sql(
      CREATE TABLE suite (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        created TEXT NOT NULL,
        options TEXT NOT NULL
      );
      CREATE TABLE run (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        created TEXT NOT NULL,
        finished TEXT NOT NULL DEFAULT '',
        status TEXT NOT NULL,
        task TEXT NOT NULL,
        task_path TEXT NOT NULL,
        task_sha256 TEXT NOT NULL,
        task_source TEXT NOT NULL,
        target TEXT NOT NULL,
        device TEXT NOT NULL DEFAULT '',
        proposer TEXT NOT NULL,
        model TEXT NOT NULL DEFAULT '',
        folder TEXT NOT NULL,
        options TEXT NOT NULL,
        card TEXT NOT NULL DEFAULT 'null',
        outcome TEXT NOT NULL DEFAULT '',
        best_key TEXT NOT NULL DEFAULT '',
        vs_best REAL NOT NULL DEFAULT 0,
        vs_eager REAL NOT NULL DEFAULT 0,
        seconds REAL NOT NULL DEFAULT 0,
        suite_id INTEGER REFERENCES suite(id) ON DELETE SET NULL
      );
      CREATE INDEX run_by_suite ON run(suite_id);
      CREATE TABLE call (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
        key TEXT NOT NULL,
        created TEXT NOT NULL,
        call_type TEXT NOT NULL,
        status TEXT NOT NULL,
        model TEXT NOT NULL,
        system TEXT NOT NULL,
        prompt TEXT NOT NULL,
        reply TEXT NOT NULL,
        thinking TEXT NOT NULL,
        finish_reason TEXT NOT NULL,
        error TEXT NOT NULL,
        prompt_tokens INTEGER NOT NULL,
        completion_tokens INTEGER NOT NULL,
        estimated INTEGER NOT NULL,
        cost_usd REAL NOT NULL,
        price_known INTEGER NOT NULL,
        seconds REAL NOT NULL,
        attempts INTEGER NOT NULL,
        UNIQUE (run_id, key)
      );
      CREATE TABLE candidate (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
        key TEXT NOT NULL,
        parent_key TEXT NOT NULL,
        phase TEXT NOT NULL,
        proposer TEXT NOT NULL,
        title TEXT NOT NULL,
        created TEXT NOT NULL,
        source TEXT NOT NULL,
        sha256 TEXT NOT NULL,
        kernel_class TEXT NOT NULL,
        findings TEXT NOT NULL,
        facts TEXT NOT NULL,
        predicted_us REAL NOT NULL,
        verdict TEXT NOT NULL DEFAULT '',
        reason TEXT NOT NULL DEFAULT '',
        detail TEXT NOT NULL DEFAULT '',
        kind TEXT NOT NULL DEFAULT '',
        vs_best REAL NOT NULL DEFAULT 0,
        ci_low REAL NOT NULL DEFAULT 0,
        ci_high REAL NOT NULL DEFAULT 0,
        vs_eager REAL NOT NULL DEFAULT 0,
        candidate_us REAL NOT NULL DEFAULT 0,
        error REAL NOT NULL DEFAULT 0,
        error_limit REAL NOT NULL DEFAULT 0,
        seconds REAL NOT NULL DEFAULT 0,
        json TEXT NOT NULL DEFAULT '',
        UNIQUE (run_id, key)
      );
      CREATE TABLE decision (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
        key TEXT NOT NULL,
        created TEXT NOT NULL,
        phase TEXT NOT NULL,
        text TEXT NOT NULL,
        json TEXT NOT NULL,
        UNIQUE (run_id, key)
      );
      CREATE TABLE console (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
        created TEXT NOT NULL,
        line TEXT NOT NULL
      );
      CREATE INDEX console_by_run ON console(run_id, id);
    )sql",
    // Indexes for lists, totals and leaderboards, so that these do not touch rows with sources, prompts and
    // verdicts.
    R"sql(
      CREATE INDEX run_by_status ON run(status, id);
      CREATE INDEX run_by_task ON run(task, device, best_key, vs_best, id);
      CREATE INDEX run_by_device ON run(device, id);
      CREATE INDEX candidate_by_verdict ON candidate(verdict, reason);
      CREATE INDEX candidate_by_run ON candidate(run_id, verdict, phase);
      CREATE INDEX call_usage ON call(run_id, prompt_tokens, completion_tokens, cost_usd, estimated, price_known);
    )sql",
    // The result of a run (run_result.h).
    R"sql(
      ALTER TABLE run ADD COLUMN result TEXT NOT NULL DEFAULT '';
    )sql",
    // Users' notes for a run (run_notes.h).
    R"sql(
      CREATE TABLE IF NOT EXISTS run_note (
        run_id INTEGER PRIMARY KEY REFERENCES run(id) ON DELETE CASCADE,
        text TEXT NOT NULL,
        tags TEXT NOT NULL,
        changed TEXT NOT NULL
      );
    )sql",
};
constexpr int kVersionWithResults = 4;
constexpr int kVersion = sizeof kMigrations / sizeof *kMigrations;

template <class Record>
void AddAlterations(sqlite3* handle, std::vector<std::string>* all) {
  Statement query(handle, "SELECT name FROM pragma_table_info(?)");
  query.Bind(1, TableOf<Record>());
  std::vector<std::string> have;
  while (query.ok() && query.Step() == SQLITE_ROW) have.push_back(query.Text(0));
  for (std::string& one : MissingColumns<Record>(have)) all->push_back(std::move(one));
}

// Statements that add the columns of record_fields.cpp that the tables lack.
std::vector<std::string> AlterationsFor(sqlite3* handle) {
  std::vector<std::string> all;
  AddAlterations<VerdictRecord>(handle, &all);
  AddAlterations<RunRecord>(handle, &all);
  AddAlterations<CallRecord>(handle, &all);
  AddAlterations<CandidateRecord>(handle, &all);
  return all;
}

std::string SelectVerdicts(const char* which) {
  return fmt::format("SELECT {} FROM {} {}", SelectList<VerdictRecord>(Extent::kWhole),
                     TableOf<VerdictRecord>(), which);
}

constexpr double kPatience_s = 10;

// SQLite waits for other writers, but not if another process switches the same new store to WAL.
Status SwitchToWal(sqlite3* handle) {
  const Deadline deadline = Deadline::After(kPatience_s);
  while (true) {
    Status done = Execute(handle, "PRAGMA journal_mode=WAL");
    if (done.ok() || sqlite3_errcode(handle) != SQLITE_BUSY || deadline.passed() ||
        !SleepUnlessInterrupted(0.01))
      return done;
  }
}

}  // namespace

void Store::Closer::operator()(sqlite3* handle) const {
  sqlite3_close(handle);
}
Store::Store(sqlite3* handle) : handle_(handle) {}
Store::Store(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::Open(const fs::path& path) {
  HONE_RETURN_IF_ERROR(MakeFolders(path.parent_path()));
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  Store store(handle);
  if (code != SQLITE_OK) return SqlError(handle, "cannot open the store " + path.string());
  sqlite3_busy_timeout(handle, static_cast<int>(1000 * kPatience_s));
  HONE_RETURN_IF_ERROR(SwitchToWal(handle).WithContext("the store " + path.string()));
  HONE_RETURN_IF_ERROR(Execute(store.handle(), "PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;")
                           .WithContext("the store " + path.string()));
  HONE_RETURN_IF_ERROR(store.Migrate().WithContext("the store " + path.string()));
  HONE_RETURN_IF_ERROR(store.AddMissingColumns().WithContext("the store " + path.string()));
  return store;
}

Result<Store> Store::OpenInMemory() {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(":memory:", &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  Store store(handle);
  if (code != SQLITE_OK) return SqlError(handle, "cannot open a store in memory");
  HONE_RETURN_IF_ERROR(store.Migrate());
  HONE_RETURN_IF_ERROR(store.AddMissingColumns());
  return store;
}

Result<Store> Store::OpenReadOnly(const fs::path& path) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READONLY, nullptr);
  Store store(handle);
  if (code != SQLITE_OK) return SqlError(handle, "cannot open the store " + path.string());
  sqlite3_busy_timeout(handle, 2'000);
  sqlite3_progress_handler(
      handle, 10'000, [](void*) { return Interrupted() ? 1 : 0; }, nullptr);
  HONE_RETURN_IF_ERROR(Execute(store.handle(), "PRAGMA query_only=ON; PRAGMA mmap_size=268435456;")
                           .WithContext("the store " + path.string()));
  if (const int version = store.Version(); version != kVersion)
    return Error{ErrorKind::kInvalid,
                 fmt::format("the store {}: its schema has version {}, this hone knows {}", path.string(),
                             version, kVersion)};
  if (!AlterationsFor(handle).empty())
    return Error{
        ErrorKind::kInvalid,
        fmt::format("the store {} lacks a column that this hone reads; any command that writes, such "
                    "as `hone runs`, adds it",
                    path.string())};
  return store;
}

int Store::Version() {
  Statement query(handle_.get(), "PRAGMA user_version");
  return query.ok() && query.Step() == SQLITE_ROW ? static_cast<int>(query.Integer(0)) : -1;
}

Status Store::Migrate() {
  if (Version() == kVersion) return Ok();
  // Reads the version again inside the transaction, because another process may be migrating too.
  return InTransaction(handle(), [&]() -> Status {
    const int found = Version();
    if (found < 0 || found > kVersion)
      return Error{
          ErrorKind::kInvalid,
          fmt::format("its schema has version {}, this hone knows {}: use a newer hone", found, kVersion)};
    for (int step = found; step < kVersion; ++step)
      HONE_RETURN_IF_ERROR(Execute(handle(), kMigrations[step]));
    if (found < kVersionWithResults) {
      std::vector<int64_t> runs;
      Statement query(handle(), "SELECT id FROM run");
      while (query.ok() && query.Step() == SQLITE_ROW) runs.push_back(query.Integer(0));
      for (const int64_t run : runs) HONE_RETURN_IF_ERROR(SaveResult(handle(), run));
    }
    return Execute(handle(), fmt::format("PRAGMA user_version = {}", kVersion).c_str());
  });
}

// Added columns do not change the schema version. An older hone ignores them, and its rows get their
// defaults.
Status Store::AddMissingColumns() {
  if (AlterationsFor(handle_.get()).empty()) return Ok();
  return InTransaction(handle(), [&]() -> Status {  // another process may do this at the same time
    for (const std::string& alteration : AlterationsFor(handle()))
      HONE_RETURN_IF_ERROR(Execute(handle(), alteration.c_str()));
    // Sums over calls read this index instead of the rows, which hold prompts. It therefore needs every
    // field.
    std::string usage = "DROP INDEX IF EXISTS call_usage; CREATE INDEX call_usage ON call(run_id";
    for (const UsageField& field : kUsageFields) usage += std::string(", ") + field.name;
    return Execute(handle(), (usage + ")").c_str());
  });
}

Result<int64_t> Store::Save(const VerdictRecord& record) {
  Statement insert(handle_.get(), InsertSql<VerdictRecord>().c_str());
  if (!insert.ok()) return SqlError(handle_.get(), "cannot save the verdict");
  BindInsert(insert, record);
  if (insert.Step() != SQLITE_DONE) return SqlError(handle_.get(), "cannot save the verdict");
  return static_cast<int64_t>(sqlite3_last_insert_rowid(handle_.get()));
}

Result<VerdictRecord> Store::Verdict(int64_t id) {
  Statement query(handle_.get(), SelectVerdicts("WHERE id = ?").c_str());
  if (!query.ok()) return SqlError(handle_.get(), "cannot read the store");
  query.Bind(1, id);
  if (query.Step() != SQLITE_ROW)
    return Error{ErrorKind::kNotFound, fmt::format("there is no verdict V{} in the store", id)};
  return ReadRecord<VerdictRecord>(query, Extent::kWhole);
}

Result<std::vector<VerdictRecord>> Store::Verdicts(int most) {
  Statement query(handle_.get(), SelectVerdicts("ORDER BY id DESC LIMIT ?").c_str());
  if (!query.ok()) return SqlError(handle_.get(), "cannot read the store");
  query.Bind(1, static_cast<int64_t>(most));
  std::vector<VerdictRecord> records;
  int code = SQLITE_ROW;
  while ((code = query.Step()) == SQLITE_ROW)
    records.push_back(ReadRecord<VerdictRecord>(query, Extent::kWhole));
  if (code != SQLITE_DONE) return SqlError(handle_.get(), "cannot read the store");
  return records;
}

}  // namespace hone

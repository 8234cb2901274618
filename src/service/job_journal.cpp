#include "service/job_journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/file.h>

#include "base/ids.h"
#include "base/text.h"
#include "store/sql.h"

namespace hone {

namespace {

constexpr int kJournalVersion = 1;
constexpr const char* kJournalSchema = R"sql(
  CREATE TABLE job (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    askers TEXT NOT NULL,
    task TEXT NOT NULL,
    task_path TEXT NOT NULL,
    task_sha256 TEXT NOT NULL,
    candidate TEXT NOT NULL,
    options TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    created TEXT NOT NULL,
    started TEXT NOT NULL,
    finished TEXT NOT NULL,
    result TEXT NOT NULL,
    verdict TEXT NOT NULL,
    error_kind TEXT NOT NULL,
    error TEXT NOT NULL
  );
  CREATE INDEX job_by_state ON job(state, number);
  -- Thousands of candidates share a task.
  CREATE TABLE task_source (sha256 TEXT PRIMARY KEY, source TEXT NOT NULL);
  PRAGMA user_version = 1;
)sql";

constexpr const char* kBriefColumns =
    "number, id, state, askers, task, task_path, task_sha256, options, attempts, created, started, finished, "
    "result, error_kind, error";

// " alice bob ": names contain no space (tokens.h), so a search includes the spaces around a name.
std::string AskersText(const std::set<std::string>& askers) {
  std::string text = " ";
  for (const std::string& each : askers) text += each + " ";
  return text;
}

Json JsonOf(const std::string& text) {
  Result<Json> json = ParseJson(text);
  return json.ok() ? std::move(*json) : Json();
}

Job ReadBrief(Statement& row) {
  Job job;
  job.number = row.Integer(0);
  job.id = row.Text(1);
  job.state = JobStateOf(row.Text(2));
  for (const std::string& each : Split(row.Text(3), ' '))
    if (!each.empty()) job.askers.insert(each);
  job.task = row.Text(4);
  job.task_path = row.Text(5);
  job.task_sha256 = row.Text(6);
  job.options = JsonOf(row.Text(7));
  job.attempts = static_cast<int>(row.Integer(8));
  job.created = row.Text(9);
  job.started = row.Text(10);
  job.finished = row.Text(11);
  job.result = JsonOf(row.Text(12));
  job.error_kind = row.Text(13);
  job.error = row.Text(14);
  return job;
}

Status Done(sqlite3* handle, Statement& statement, const char* doing) {
  if (!statement.ok() || statement.Step() != SQLITE_DONE) return SqlError(handle, doing);
  return Ok();
}

}  // namespace

void JobJournal::Closer::operator()(sqlite3* handle) const {
  sqlite3_close(handle);
}

Result<std::unique_ptr<JobJournal>> JobJournal::Open(const fs::path& folder) {
  HONE_RETURN_IF_ERROR(MakeFolders(folder, 0700));
  UniqueFd lock(open((folder / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.valid()) return ErrnoError("cannot make " + (folder / "lock").string());
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return Error{
        ErrorKind::kUnavailable,
        fmt::format("another hone serve --judge uses {}; stop it, or set HONE_DATA to another folder",
                    folder.string())};
  const fs::path path = folder / "jobs.db";
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  std::unique_ptr<JobJournal> journal(new JobJournal(std::move(lock), handle));
  const std::string context = "the journal " + path.string();
  if (code != SQLITE_OK) return SqlError(handle, "cannot open " + context);
  sqlite3_busy_timeout(handle, 10'000);
  HONE_RETURN_IF_ERROR(
      Execute(handle, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;").WithContext(context));
  Statement version(handle, "PRAGMA user_version");
  const int64_t found = version.ok() && version.Step() == SQLITE_ROW ? version.Integer(0) : -1;
  if (found == 0) {
    HONE_RETURN_IF_ERROR(
        InTransaction(handle, [&] { return Execute(handle, kJournalSchema); }).WithContext(context));
  } else if (found != kJournalVersion) {
    return Error{ErrorKind::kInvalid,
                 fmt::format("{} has version {}, this hone knows {}: use a newer hone, or delete the file",
                             context, found, kJournalVersion)};
  }
  return journal;
}

Status JobJournal::Put(Job* job) {
  sqlite3* const handle = handle_.get();
  return InTransaction(handle, [&]() -> Status {
    if (!job->task_source.empty()) {
      Statement source(handle, "INSERT OR IGNORE INTO task_source (sha256, source) VALUES (?,?)");
      source.BindAll(job->task_sha256, job->task_source);
      HONE_RETURN_IF_ERROR(Done(handle, source, "cannot keep the task"));
    }
    Statement row(handle,
                  "INSERT OR REPLACE INTO job (id, state, askers, task, task_path, task_sha256, candidate, "
                  "options, attempts, created, started, finished, result, verdict, error_kind, error) "
                  "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    row.BindAll(job->id, NameOf(job->state), AskersText(job->askers), job->task, job->task_path,
                job->task_sha256, job->candidate, DumpJson(job->options), job->attempts, job->created,
                job->started, job->finished, DumpJson(job->result), DumpJson(job->verdict), job->error_kind,
                job->error);
    HONE_RETURN_IF_ERROR(Done(handle, row, "cannot keep the job"));
    job->number = sqlite3_last_insert_rowid(handle);
    return Ok();
  });
}

Status JobJournal::Update(const Job& job) {
  Statement row(handle_.get(),
                "UPDATE job SET state=?, askers=?, attempts=?, started=?, finished=?, result=?, verdict=?, "
                "error_kind=?, error=? WHERE id=?");
  row.BindAll(NameOf(job.state), AskersText(job.askers), job.attempts, job.started, job.finished,
              DumpJson(job.result), DumpJson(job.verdict), job.error_kind, job.error, job.id);
  return Done(handle_.get(), row, "cannot keep the job");
}

Result<std::optional<Job>> JobJournal::Find(const std::string& id, bool whole) {
  std::optional<Job> job;
  {
    Statement row(handle_.get(), fmt::format("SELECT {} FROM job WHERE id=?", kBriefColumns).c_str());
    if (!row.ok()) return SqlError(handle_.get(), "cannot read the job");
    row.Bind(1, id);
    if (row.Step() != SQLITE_ROW) return job;
    job = ReadBrief(row);
  }
  if (!whole) return job;
  Statement row(handle_.get(),
                "SELECT candidate, verdict, (SELECT source FROM task_source WHERE sha256 = task_sha256 AND "
                "task_path = '') FROM job WHERE id=?");
  if (!row.ok()) return SqlError(handle_.get(), "cannot read the job");
  row.Bind(1, id);
  if (row.Step() != SQLITE_ROW) return SqlError(handle_.get(), "cannot read the job");
  job->candidate = row.Text(0);
  job->verdict = JsonOf(row.Text(1));
  job->task_source = row.Text(2);
  return job;
}

Result<std::vector<Job>> JobJournal::Active() {
  Statement rows(
      handle_.get(),
      fmt::format("SELECT {} FROM job WHERE state IN ('queued', 'running') ORDER BY number", kBriefColumns)
          .c_str());
  if (!rows.ok()) return SqlError(handle_.get(), "cannot read the jobs");
  std::vector<Job> jobs;
  while (rows.Step() == SQLITE_ROW) jobs.push_back(ReadBrief(rows));
  return jobs;
}

Result<std::vector<Job>> JobJournal::List(const std::string& asker, const std::string& state, int most) {
  Statement rows(handle_.get(),
                 fmt::format("SELECT {} FROM job WHERE instr(askers, ?) > 0 AND (? = '' OR state = ?) "
                             "ORDER BY number DESC LIMIT ?",
                             kBriefColumns)
                     .c_str());
  if (!rows.ok()) return SqlError(handle_.get(), "cannot read the jobs");
  rows.BindAll(" " + asker + " ", state, state, most);
  std::vector<Job> jobs;
  while (rows.Step() == SQLITE_ROW) jobs.push_back(ReadBrief(rows));
  return jobs;
}

Status JobJournal::Prune(int64_t keep) {
  sqlite3* const handle = handle_.get();
  return InTransaction(handle, [&]() -> Status {
    Statement jobs(
        handle,
        "DELETE FROM job WHERE state NOT IN ('queued', 'running') AND number <= (SELECT number "
        "FROM job WHERE state NOT IN ('queued', 'running') ORDER BY number DESC LIMIT 1 OFFSET ?)");
    jobs.BindAll(keep);
    HONE_RETURN_IF_ERROR(Done(handle, jobs, "cannot forget old jobs"));
    return Execute(handle,
                   "DELETE FROM task_source WHERE sha256 NOT IN (SELECT task_sha256 FROM job WHERE "
                   "task_path = '')");
  });
}

}  // namespace hone

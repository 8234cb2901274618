#include "store/run_store.h"

#include <fmt/format.h>

#include <charconv>

#include "base/clock.h"
#include "base/text.h"
#include "store/sql.h"

namespace hone {

namespace {

// One list of columns per table, in the order in which rows are bound and read.
constexpr char kRunColumns[] =
    "name, created, finished, status, task, task_path, task_sha256, task_source, target, device, proposer, "
    "model, folder, options, card, outcome, best_key, vs_best, vs_eager, seconds, suite_id";
constexpr char kRunSummary[] =
    "id, name, created, finished, status, task, task_path, task_sha256, '', target, device, proposer, model, "
    "folder, '', 'null', outcome, best_key, vs_best, vs_eager, seconds, suite_id";
constexpr char kCallColumns[] =
    "run_id, key, created, call_type, status, model, system, prompt, reply, thinking, finish_reason, error, "
    "prompt_tokens, completion_tokens, estimated, cost_usd, price_known, seconds, attempts";
constexpr char kCandidateColumns[] =
    "run_id, key, parent_key, phase, proposer, title, created, source, sha256, kernel_class, findings, "
    "facts, predicted_us, verdict, reason, detail, kind, vs_best, ci_low, ci_high, vs_eager, candidate_us, "
    "error, error_limit, seconds, json";

std::string Placeholders(const char* columns) {
  std::string marks = "?";
  for (const char* c = columns; *c != '\0'; ++c)
    if (*c == ',') marks += ",?";
  return marks;
}

RunRecord ReadRun(Statement& row) {
  RunRecord run;
  int column = 0;
  run.id = row.Integer(column++);
  for (std::string* field : {&run.name, &run.created, &run.finished, &run.status, &run.task, &run.task_path,
                             &run.task_sha256, &run.task_source, &run.target, &run.device, &run.proposer,
                             &run.model, &run.folder, &run.options, &run.card, &run.outcome, &run.best_key})
    *field = row.Text(column++);
  for (double* field : {&run.vs_best, &run.vs_eager, &run.seconds}) *field = row.Number(column++);
  run.suite_id = row.Integer(column);
  return run;
}

CallRecord ReadCall(Statement& row) {
  CallRecord call;
  int column = 0;
  call.id = row.Integer(column++);
  call.run_id = row.Integer(column++);
  for (std::string* field :
       {&call.key, &call.created, &call.call_type, &call.status, &call.model, &call.system, &call.prompt,
        &call.reply, &call.thinking, &call.finish_reason, &call.error})
    *field = row.Text(column++);
  call.prompt_tokens = row.Integer(column++);
  call.completion_tokens = row.Integer(column++);
  call.estimated = row.Integer(column++) != 0;
  call.cost_usd = row.Number(column++);
  call.price_known = row.Integer(column++) != 0;
  call.seconds = row.Number(column++);
  call.attempts = static_cast<int>(row.Integer(column));
  return call;
}

CandidateRecord ReadCandidate(Statement& row) {
  CandidateRecord one;
  int column = 0;
  one.id = row.Integer(column++);
  one.run_id = row.Integer(column++);
  for (std::string* field : {&one.key, &one.parent_key, &one.phase, &one.proposer, &one.title, &one.created,
                             &one.source, &one.sha256, &one.kernel_class, &one.findings, &one.facts})
    *field = row.Text(column++);
  one.predicted_us = row.Number(column++);
  for (std::string* field : {&one.verdict, &one.reason, &one.detail, &one.kind}) *field = row.Text(column++);
  for (double* field : {&one.vs_best, &one.ci_low, &one.ci_high, &one.vs_eager, &one.candidate_us, &one.error,
                        &one.error_limit, &one.seconds})
    *field = row.Number(column++);
  one.json = row.Text(column);
  return one;
}

DecisionRecord ReadDecision(Statement& row) {
  return DecisionRecord{row.Text(0), row.Text(1), row.Text(2), row.Text(3), row.Text(4)};
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

Result<std::unique_ptr<RunStore>> RunStore::OpenReadOnly(const fs::path& path) {
  HONE_ASSIGN_OR_RETURN(Store store, Store::OpenReadOnly(path));
  return std::unique_ptr<RunStore>(new RunStore(std::move(store)));
}

Result<int64_t> RunStore::AddRun(const RunRecord& run) {
  const std::scoped_lock lock(mutex_);
  Statement insert(
      handle(),
      fmt::format("INSERT INTO run ({}) VALUES ({})", kRunColumns, Placeholders(kRunColumns)).c_str());
  insert.BindAll(run.name, run.created, run.finished, run.status, run.task, run.task_path, run.task_sha256,
                 run.task_source, run.target, run.device, run.proposer, run.model, run.folder, run.options,
                 run.card, run.outcome, run.best_key, run.vs_best, run.vs_eager, run.seconds);
  if (run.suite_id > 0) insert.Bind(21, run.suite_id);
  HONE_RETURN_IF_ERROR(Finish(handle(), insert, "cannot save the run"));
  return static_cast<int64_t>(sqlite3_last_insert_rowid(handle()));
}

Status RunStore::UpdateRun(const RunRecord& run) {
  const std::scoped_lock lock(mutex_);
  Statement update(handle(),
                   "UPDATE run SET finished=?, status=?, device=?, model=?, options=?, card=?, outcome=?, "
                   "best_key=?, vs_best=?, vs_eager=?, seconds=? WHERE id=?");
  update.BindAll(run.finished, run.status, run.device, run.model, run.options, run.card, run.outcome,
                 run.best_key, run.vs_best, run.vs_eager, run.seconds, run.id);
  return Finish(handle(), update, "cannot save the run");
}

Result<RunRecord> RunStore::FindRun(const std::string& what) {
  const std::scoped_lock lock(mutex_);
  const std::string select = fmt::format("SELECT id, {} FROM run ", kRunColumns);
  auto find = [&](const char* where, const auto& value) -> Result<std::vector<RunRecord>> {
    Statement query(handle(), (select + where).c_str());
    query.Bind(1, value);
    return All(handle(), query, ReadRun);
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
  HONE_ASSIGN_OR_RETURN(std::vector<RunRecord> by_folder, find("WHERE folder=? ORDER BY id DESC", folder));
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
      fmt::format("SELECT {} FROM run WHERE ?2 = 0 OR suite_id = ?2 ORDER BY id DESC LIMIT ?1", kRunSummary)
          .c_str());
  query.BindAll(most, suite_id);
  return All(handle(), query, ReadRun);
}

Result<RunRecord> RunStore::RunSummary(int64_t id) {
  const std::scoped_lock lock(mutex_);
  Statement query(handle(), fmt::format("SELECT {} FROM run WHERE id = ?", kRunSummary).c_str());
  query.Bind(1, id);
  HONE_ASSIGN_OR_RETURN(std::optional<RunRecord> run, One(handle(), query, ReadRun));
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
  Statement insert(handle(), fmt::format("INSERT OR REPLACE INTO call ({}) VALUES ({})", kCallColumns,
                                         Placeholders(kCallColumns))
                                 .c_str());
  insert.BindAll(call.run_id, call.key, call.created, call.call_type, call.status, call.model, call.system,
                 call.prompt, call.reply, call.thinking, call.finish_reason, call.error, call.prompt_tokens,
                 call.completion_tokens, call.estimated, call.cost_usd, call.price_known, call.seconds,
                 call.attempts);
  return Finish(handle(), insert, "cannot save a model call");
}

Result<std::optional<CallRecord>> RunStore::Call(int64_t run_id, const std::string& key) {
  const std::scoped_lock lock(mutex_);
  Statement query(handle(),
                  fmt::format("SELECT id, {} FROM call WHERE run_id=? AND key=?", kCallColumns).c_str());
  query.BindAll(run_id, key);
  return One(handle(), query, ReadCall);
}

Result<std::vector<CallRecord>> RunStore::Calls(int64_t run_id) {
  const std::scoped_lock lock(mutex_);
  Statement query(handle(),
                  fmt::format("SELECT id, {} FROM call WHERE run_id=? ORDER BY id", kCallColumns).c_str());
  query.Bind(1, run_id);
  return All(handle(), query, ReadCall);
}

Result<UsageTotals> RunStore::Usage(int64_t run_id) {
  const std::scoped_lock lock(mutex_);
  Statement query(handle(),
                  "SELECT count(*), total(prompt_tokens), total(completion_tokens), total(cost_usd), "
                  "max(estimated), min(price_known) FROM call WHERE run_id=?");
  query.Bind(1, run_id);
  if (!query.ok() || query.Step() != SQLITE_ROW) return SqlError(handle(), "cannot read the store");
  UsageTotals totals;
  totals.calls = query.Integer(0);
  totals.prompt_tokens = static_cast<int64_t>(query.Number(1));
  totals.completion_tokens = static_cast<int64_t>(query.Number(2));
  totals.cost_usd = query.Number(3);
  totals.estimated = query.Integer(4) != 0;
  totals.price_known = totals.calls == 0 || query.Integer(5) != 0;
  return totals;
}

Status RunStore::SaveCandidate(const CandidateRecord& one) {
  const std::scoped_lock lock(mutex_);
  // Keeps the id of a row that is there, so that the order of first appearance stays.
  std::string sets;
  for (const std::string& column : Split(kCandidateColumns, ',')) {
    const std::string name(Trim(column));
    if (name == "run_id" || name == "key" || name == "created") continue;
    sets += fmt::format("{}{}=excluded.{}", sets.empty() ? "" : ", ", name, name);
  }
  Statement insert(
      handle(),
      fmt::format("INSERT INTO candidate ({}) VALUES ({}) ON CONFLICT(run_id, key) DO UPDATE SET {}",
                  kCandidateColumns, Placeholders(kCandidateColumns), sets)
          .c_str());
  insert.BindAll(one.run_id, one.key, one.parent_key, one.phase, one.proposer, one.title, one.created,
                 one.source, one.sha256, one.kernel_class, one.findings, one.facts, one.predicted_us,
                 one.verdict, one.reason, one.detail, one.kind, one.vs_best, one.ci_low, one.ci_high,
                 one.vs_eager, one.candidate_us, one.error, one.error_limit, one.seconds, one.json);
  return Finish(handle(), insert, "cannot save a candidate");
}

Result<std::optional<CandidateRecord>> RunStore::Candidate(int64_t run_id, const std::string& key) {
  const std::scoped_lock lock(mutex_);
  Statement query(
      handle(),
      fmt::format("SELECT id, {} FROM candidate WHERE run_id=? AND key=?", kCandidateColumns).c_str());
  query.BindAll(run_id, key);
  return One(handle(), query, ReadCandidate);
}

Result<std::vector<CandidateRecord>> RunStore::Candidates(int64_t run_id) {
  const std::scoped_lock lock(mutex_);
  Statement query(
      handle(),
      fmt::format("SELECT id, {} FROM candidate WHERE run_id=? ORDER BY id", kCandidateColumns).c_str());
  query.Bind(1, run_id);
  return All(handle(), query, ReadCandidate);
}

Result<std::vector<CandidateRecord>> RunStore::CandidateSummaries(int64_t run_id) {
  const std::scoped_lock lock(mutex_);
  Statement query(handle(),
                  "SELECT id, run_id, key, parent_key, phase, proposer, title, created, '', sha256, "
                  "kernel_class, '[]', 'null', predicted_us, verdict, reason, substr(detail, 1, 400), kind, "
                  "vs_best, ci_low, ci_high, vs_eager, candidate_us, error, error_limit, seconds, '' "
                  "FROM candidate WHERE run_id=? ORDER BY id");
  query.Bind(1, run_id);
  return All(handle(), query, ReadCandidate);
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
  HONE_ASSIGN_OR_RETURN(std::optional<SuiteRecord> found,
                        One<SuiteRecord>(handle(), query, [](Statement& row) {
                          return SuiteRecord{row.Integer(0), row.Text(1), row.Text(2), row.Text(3)};
                        }));
  if (found) return std::move(*found);
  return Error{ErrorKind::kNotFound, fmt::format("there is no suite '{}' in the store", name)};
}

}  // namespace hone

#include "store/run_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/ids.h"
#include "base/text.h"
#include "store/record_fields.h"
#include "store/record_io.h"
#include "store/run_result.h"
#include "store/sql.h"
#include "store/suite_parts.h"

namespace hone {

namespace {

struct Column {
  std::string name;
  std::string type;  // TEXT, REAL, INTEGER
  bool may_be_null = false;
};

constexpr char kMark[] = "from_archive";

// Columns of any table that are meaningful in one store only.
const std::set<std::string>& LocalColumns() {
  static const std::set<std::string> kColumns = [] {
    std::set<std::string> columns = {"id", "run_id"};  // for tables without a field list
    for (const auto& of : {ColumnsThat<RunRecord>(kLocal), ColumnsThat<CallRecord>(kLocal),
                           ColumnsThat<CandidateRecord>(kLocal)})
      columns.insert(of.begin(), of.end());
    return columns;
  }();
  return kColumns;
}

std::vector<std::string> JsonColumns(const std::string& table) {
  if (table == "run") return ColumnsThat<RunRecord>(kHoldsJson);
  if (table == "call") return ColumnsThat<CallRecord>(kHoldsJson);
  if (table == "candidate") return ColumnsThat<CandidateRecord>(kHoldsJson);
  return table == "decision" ? std::vector<std::string>{"json"} : std::vector<std::string>{};
}

Error Broken(const std::string& what) {
  return Error{ErrorKind::kInvalid, what};
}

Result<std::vector<Column>> ColumnsOf(sqlite3* handle, const std::string& table) {
  Statement query(handle, "SELECT name, type, \"notnull\" FROM pragma_table_info(?)");
  query.Bind(1, table);
  std::vector<Column> columns;
  while (query.ok() && query.Step() == SQLITE_ROW)
    columns.push_back(Column{query.Text(0), query.Text(1), query.Integer(2) == 0});
  if (columns.empty()) return SqlError(handle, "cannot read the schema of " + table);
  return columns;
}

// Every table whose rows belong to a run. Users' notes (run_notes.h) stay in this store.
Result<std::vector<std::string>> TablesOfARun(sqlite3* handle) {
  Statement query(
      handle,
      "SELECT m.name FROM sqlite_master m WHERE m.type='table' AND EXISTS (SELECT 1 FROM "
      "pragma_table_info(m.name) c WHERE c.name='run_id') AND m.name <> 'run_note' ORDER BY m.name");
  std::vector<std::string> tables;
  while (query.ok() && query.Step() == SQLITE_ROW) tables.push_back(query.Text(0));
  if (tables.empty()) return SqlError(handle, "cannot read the schema");
  return tables;
}

std::string Hex(const std::string& bytes) {
  std::string hex;
  for (const char c : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

std::optional<std::string> FromHex(const std::string& hex) {
  if (hex.size() % 2 != 0 || hex.find_first_not_of("0123456789abcdef") != std::string::npos)
    return std::nullopt;
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

// JSON has no infinity and only UTF-8 text.
Json ToValue(Statement& row, int column, const std::string& type) {
  if (row.IsNull(column)) return nullptr;
  if (type == "INTEGER") return row.Integer(column);
  if (type == "REAL") {
    const double number = row.Number(column);
    if (std::isfinite(number)) return number;
    return Json{{"real", number > 0 ? "inf" : "-inf"}};
  }
  std::string text = row.Text(column);
  if (ValidUtf8(text) == text) return text;
  return Json{{"hex", Hex(text)}};
}

// Binds a value that ToValue made. Returns false for any other value.
bool BindValue(Statement& statement, int index, const Json& value, const Column& column) {
  if (value.is_null()) {
    statement.BindNull(index);
    return column.may_be_null;
  }
  if (column.type == "INTEGER") {
    if (!value.is_number_integer()) return false;
    statement.Bind(index, value.get<int64_t>());
    return true;
  }
  if (column.type == "REAL") {
    if (value.is_number()) {
      statement.Bind(index, value.get<double>());
      return true;
    }
    const std::string word = GetString(value, "real");
    if (word != "inf" && word != "-inf") return false;
    statement.Bind(index, word == "inf" ? HUGE_VAL : -HUGE_VAL);
    return true;
  }
  if (value.is_string()) {
    statement.Bind(index, value.str());
    return true;
  }
  const Json& hex = GetMember(value, "hex");
  const std::optional<std::string> bytes = hex.is_string() ? FromHex(hex.str()) : std::nullopt;
  if (bytes) statement.Bind(index, *bytes);
  return bytes.has_value();
}

Result<std::vector<Json>> ReadRows(sqlite3* handle, const std::string& table, const std::string& where,
                                   int64_t id) {
  HONE_ASSIGN_OR_RETURN(const std::vector<Column> columns, ColumnsOf(handle, table));
  std::string names;
  std::vector<Column> read;
  for (const Column& column : columns) {
    if (LocalColumns().count(column.name) != 0) continue;
    names += (names.empty() ? "" : ", ") + column.name;
    read.push_back(column);
  }
  Statement query(handle,
                  fmt::format("SELECT {} FROM {} WHERE {}=? ORDER BY rowid", names, table, where).c_str());
  query.Bind(1, id);
  const std::vector<std::string> sparse =
      table == "call" ? ColumnsThat<CallRecord>(kSparse) : std::vector<std::string>{};
  std::vector<Json> rows;
  int code = SQLITE_ERROR;
  while (query.ok() && (code = query.Step()) == SQLITE_ROW) {
    Json row = Json::object();
    for (size_t i = 0; i < read.size(); ++i) {
      const bool may_lack = std::find(sparse.begin(), sparse.end(), read[i].name) != sparse.end();
      if (may_lack && query.Text(static_cast<int>(i)).empty()) continue;
      row[read[i].name] = ToValue(query, static_cast<int>(i), read[i].type);
    }
    rows.push_back(std::move(row));
  }
  if (code != SQLITE_DONE) return SqlError(handle, "cannot read the store");
  return rows;
}

// `fixed` holds values of this store: the run's id and its folder.
Status InsertRow(sqlite3* handle, const std::string& table, const std::vector<Column>& columns,
                 const Json& row, const Json& fixed) {
  std::string names, marks;
  std::vector<std::pair<const Column*, const Json*>> values;
  for (const Column& column : columns) {
    const Json* value = &GetMember(fixed, column.name.c_str());
    if (value->is_null() && LocalColumns().count(column.name) == 0 && row.contains(column.name))
      value = &row.at(column.name);
    else if (value->is_null())
      continue;
    names += (names.empty() ? "" : ", ") + column.name;
    marks += marks.empty() ? "?" : ",?";
    values.emplace_back(&column, value);
  }
  Statement insert(handle, fmt::format("INSERT INTO {} ({}) VALUES ({})", table, names, marks).c_str());
  for (size_t i = 0; insert.ok() && i < values.size(); ++i)
    if (!BindValue(insert, static_cast<int>(i + 1), *values[i].second, *values[i].first))
      return Broken(fmt::format("{}.{} has a value of the wrong type", table, values[i].first->name));
  if (!insert.ok() || insert.Step() != SQLITE_DONE) return SqlError(handle, "cannot save a row of " + table);
  return Ok();
}

Status CheckRow(const std::string& table, const std::vector<Column>& columns, const Json& row) {
  if (!row.is_object()) return Broken("a row of " + table + " is no object");
  for (const std::string& name : row.keys()) {
    const bool known =
        LocalColumns().count(name) == 0 &&
        std::any_of(columns.begin(), columns.end(), [&](const Column& one) { return one.name == name; });
    if (!known) return Broken(fmt::format("{} has an unknown column '{}'", table, SafeForTerminal(name)));
  }
  for (const std::string& column : JsonColumns(table)) {
    const std::string text = GetString(row, column.c_str());
    if (!text.empty() && !ParseJson(text).ok())
      return Broken(fmt::format("{}.{} is not JSON", table, column));
  }
  return Ok();
}

Status CheckHash(const Json& row, const char* source, const char* hash, const std::string& what) {
  const std::string text = GetString(row, source);
  const std::string said = GetString(row, hash);
  if (said.empty() && text.empty()) return Ok();
  if (GetMember(row, source).is_string() && Sha256(text) != said)
    return Broken(what + ": its source is not the one that its hash names");
  return Ok();
}

// Two runs with the same identity are the same run. Its name in a store and the console lines do not count.
std::string Identity(const RunRows& rows) {
  Json all;
  all["run"] = rows.run;
  all["run"].erase("name");
  all["run"].erase("result");  // derived, and absent from archives of older schemas
  for (const auto& [table, of] : rows.tables)
    if (table != "console") all[table] = of;
  return Sha256(DumpJson(all));
}

// A cache: parsing a suite of a thousand tasks takes milliseconds, and each imported run of it needs the
// result several times.
const SuiteParts& KnownPartsOf(const SuiteRecord& suite) {
  thread_local std::string options;
  thread_local SuiteParts parts;
  if (options != suite.options || options.empty()) {
    parts = PartsOf(suite);
    options = suite.options;
  }
  return parts;
}

// Shards of one suite start at different times on different machines, so their task lists are compared.
bool IsSameSuite(const SuiteRecord& here, const SuiteRecord& other) {
  if (here.options == other.options && here.created == other.created) return true;
  const SuiteParts parts = PartsOf(here);
  const SuiteParts others = PartsOf(other);
  if (parts.tasks.empty() || parts.shards == 0) return here.created == other.created;
  return parts.sha256 == others.sha256 && parts.shards == others.shards && parts.tasks == others.tasks;
}

// Makes room in a suite that has one run per task. If the task has an earlier state of this run, its rows are
// deleted and `replaced` gets its folder. If the task has another run, that is an Error.
Status MakeRoom(sqlite3* handle, int64_t suite, const RunRows& rows, fs::path* replaced) {
  const std::string task = GetString(rows.run, "task");
  Statement query(handle,
                  "SELECT id, created, name, status, folder, options FROM run WHERE suite_id=? AND task=?");
  query.BindAll(suite, task);
  if (!query.ok() || query.Step() != SQLITE_ROW) return Ok();
  const int64_t id = query.Integer(0);
  const Result<Json> options = ParseJson(query.Text(5));
  const bool earlier = query.Text(1) == GetString(rows.run, "created") && query.Text(3) != "done" &&
                       options.ok() && IsFromArchive(*options);
  if (!earlier)
    return Broken(fmt::format(
        "the suite has a run of {} already: R{} ({}, started {}); give each execution of a suite a --name of "
        "its own",
        SafeForTerminal(task), id, SafeForTerminal(query.Text(2)), SafeForTerminal(query.Text(1))));
  *replaced = query.Text(4);
  Statement remove(handle, "DELETE FROM run WHERE id=?");
  remove.Bind(1, id);
  if (!remove.ok() || remove.Step() != SQLITE_DONE) return SqlError(handle, "cannot replace a run");
  return Ok();
}

Result<int64_t> SuiteFor(RunStore& store, const RunRows& rows, const fs::path& suite_folder) {
  if (rows.suite.is_null()) return int64_t{0};
  SuiteRecord suite;
  suite.created = GetString(rows.suite, "created");
  suite.options = GetString(rows.suite, "options");
  const std::string base = GetString(rows.suite, "name");
  for (int attempt = 1; attempt <= 100; ++attempt) {
    suite.name = attempt == 1 ? base : fmt::format("{}-{}", base, attempt);
    const Result<SuiteRecord> there = store.FindSuite(suite.name);
    if (there.ok() && IsSameSuite(*there, suite)) return there->id;
    if (there.ok()) continue;
    HONE_ASSIGN_OR_RETURN(Json options, ParseJson(suite.options));
    options["folder"] = (suite_folder / suite.name).string();
    suite.options = DumpJson(options);
    return store.AddSuite(suite);
  }
  return Error{ErrorKind::kIo, "cannot find a free name for the suite"};
}

SuiteRecord RecordOfSuite(const RunRows& rows) {
  return SuiteRecord{0, GetString(rows.suite, "name"), GetString(rows.suite, "created"),
                     GetString(rows.suite, "options")};
}

bool IsFinishedIn(RunStore& store, int64_t run, const std::string& suite) {
  Statement query(store.store().handle(),
                  "SELECT 1 FROM run JOIN suite ON suite.id = run.suite_id WHERE run.id=? AND "
                  "run.status='done' AND suite.name=?");
  query.BindAll(run, suite);
  return query.ok() && query.Step() == SQLITE_ROW;
}

bool PlainName(const std::string& name) {
  return !name.empty() && name.size() <= 200 && name[0] != '.' && name[0] != '-' &&
         name.find('/') == std::string::npos && SafeForTerminal(name) == name &&
         name.find_first_of("\n\t\\") == std::string::npos;
}

Status CheckSuite(const std::vector<Column>& columns, const Json& suite) {
  HONE_RETURN_IF_ERROR(CheckRow("suite", columns, suite));
  const Result<Json> options = ParseJson(GetString(suite, "options"));
  if (!PlainName(GetString(suite, "name")) || !options.ok() || !options->is_object())
    return Broken("the suite's name or options cannot be used");
  return Ok();
}

// A folder is meaningful on one machine only.
void HideFolder(Json* suite) {
  Result<Json> options = ParseJson(GetString(*suite, "options"));
  if (!options.ok() || !options->is_object()) return;
  options->erase("folder");
  (*suite)["options"] = DumpJson(*options);
}

}  // namespace

int64_t RunRows::count() const {
  int64_t rows = 1 + (suite.is_null() ? 0 : 1);
  for (const auto& [table, of] : tables) rows += static_cast<int64_t>(of.size());
  return rows;
}

int SchemaVersion(RunStore& store) {
  Statement query(store.store().handle(), "PRAGMA user_version");
  return query.ok() && query.Step() == SQLITE_ROW ? static_cast<int>(query.Integer(0)) : 0;
}

bool IsFromArchive(const Json& options) {
  return GetBool(options, kMark);
}

Result<RunRows> ReadRunRows(RunStore& store, int64_t run_id) {
  sqlite3* handle = store.store().handle();
  HONE_RETURN_IF_ERROR(Execute(handle, "BEGIN"));
  auto read = [&]() -> Result<RunRows> {
    RunRows rows;
    rows.schema = SchemaVersion(store);
    HONE_ASSIGN_OR_RETURN(std::vector<Json> run, ReadRows(handle, "run", "id", run_id));
    if (run.empty()) return Error{ErrorKind::kNotFound, fmt::format("there is no run R{}", run_id)};
    rows.run = std::move(run.front());
    Result<Json> run_options = ParseJson(GetString(rows.run, "options"));
    if (run_options.ok() && IsFromArchive(*run_options)) {
      run_options->erase(kMark);
      rows.run["options"] = DumpJson(*run_options);
    }
    Statement member(handle, "SELECT suite_id FROM run WHERE id=?");
    member.Bind(1, run_id);
    if (member.ok() && member.Step() == SQLITE_ROW && member.Integer(0) > 0) {
      HONE_ASSIGN_OR_RETURN(std::vector<Json> suite, ReadRows(handle, "suite", "id", member.Integer(0)));
      if (!suite.empty()) rows.suite = std::move(suite.front());
      HideFolder(&rows.suite);
    }
    HONE_ASSIGN_OR_RETURN(const std::vector<std::string> tables, TablesOfARun(handle));
    for (const std::string& table : tables) {
      HONE_ASSIGN_OR_RETURN(rows.tables[table], ReadRows(handle, table, "run_id", run_id));
    }
    return rows;
  };
  Result<RunRows> rows = read();
  (void)Execute(handle, "COMMIT").ok();
  return rows;
}

Status CheckRunRows(RunStore& store, const RunRows& rows) {
  sqlite3* handle = store.store().handle();
  const int known = SchemaVersion(store);
  if (rows.schema < 1 || rows.schema > known)
    return Broken(
        fmt::format("its schema has version {}, this hone knows {}: use a newer hone", rows.schema, known));
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> tables, TablesOfARun(handle));
  HONE_ASSIGN_OR_RETURN(const std::vector<Column> run_columns, ColumnsOf(handle, "run"));
  HONE_RETURN_IF_ERROR(CheckRow("run", run_columns, rows.run));
  if (!PlainName(GetString(rows.run, "name"))) return Broken("the run's name cannot be a folder's");
  const std::string status = GetString(rows.run, "status");
  if (status != "done" && status != "stopped" && status != "failed" && status != "running")
    return Broken("the run's status is none that a run has");
  HONE_RETURN_IF_ERROR(CheckHash(rows.run, "task_source", "task_sha256", "the task"));
  if (!rows.suite.is_null()) {
    HONE_ASSIGN_OR_RETURN(const std::vector<Column> columns, ColumnsOf(handle, "suite"));
    HONE_RETURN_IF_ERROR(CheckSuite(columns, rows.suite));
  }
  for (const auto& [table, of] : rows.tables) {
    if (std::find(tables.begin(), tables.end(), table) == tables.end())
      return Broken("there is no table '" + SafeForTerminal(table) + "'");
    HONE_ASSIGN_OR_RETURN(const std::vector<Column> columns, ColumnsOf(handle, table));
    for (const Json& row : of) {
      HONE_RETURN_IF_ERROR(CheckRow(table, columns, row));
      if (table == "candidate")
        HONE_RETURN_IF_ERROR(
            CheckHash(row, "source", "sha256", "candidate " + SafeForTerminal(GetString(row, "key"))));
    }
  }
  return Ok();
}

Result<int64_t> WriteRunRows(RunStore& store, const RunRows& rows, const std::string& name,
                             const fs::path& folder, const fs::path& suite_folder,
                             const std::function<Status()>& before_commit, fs::path* replaced) {
  fs::path unused;
  if (replaced == nullptr) replaced = &unused;
  sqlite3* handle = store.store().handle();
  return InTransaction(handle, [&]() -> Result<int64_t> {
    HONE_ASSIGN_OR_RETURN(const int64_t suite, SuiteFor(store, rows, suite_folder));
    if (suite > 0 && !KnownPartsOf(RecordOfSuite(rows)).tasks.empty())
      HONE_RETURN_IF_ERROR(MakeRoom(handle, suite, rows, replaced));
    HONE_ASSIGN_OR_RETURN(Json options, ParseJson(GetString(rows.run, "options")));
    if (!options.is_object()) return Broken("the run's options are no object");
    options[kMark] = true;
    Json fixed = {{"name", name}, {"folder", folder.string()}, {"options", DumpJson(options)}};
    if (suite > 0) fixed["suite_id"] = suite;
    HONE_ASSIGN_OR_RETURN(const std::vector<Column> run_columns, ColumnsOf(handle, "run"));
    HONE_RETURN_IF_ERROR(InsertRow(handle, "run", run_columns, rows.run, fixed));
    const int64_t id = sqlite3_last_insert_rowid(handle);
    for (const auto& [table, of] : rows.tables) {
      HONE_ASSIGN_OR_RETURN(const std::vector<Column> columns, ColumnsOf(handle, table));
      for (const Json& row : of)
        HONE_RETURN_IF_ERROR(InsertRow(handle, table, columns, row, Json{{"run_id", id}}));
    }
    HONE_RETURN_IF_ERROR(SaveResult(handle, id));
    HONE_RETURN_IF_ERROR(before_commit());
    return id;
  });
}

Result<std::optional<RunRecord>> FindSameRun(RunStore& store, const RunRows& rows) {
  Statement query(store.store().handle(), "SELECT id FROM run WHERE created=? AND task=? ORDER BY id");
  query.BindAll(GetString(rows.run, "created"), GetString(rows.run, "task"));
  std::vector<int64_t> alike;
  while (query.ok() && query.Step() == SQLITE_ROW) alike.push_back(query.Integer(0));
  const std::string identity = Identity(rows);
  const bool one_of_each = !KnownPartsOf(RecordOfSuite(rows)).tasks.empty();
  for (const int64_t id : alike) {
    if (one_of_each && IsFinishedIn(store, id, GetString(rows.suite, "name"))) {
      HONE_ASSIGN_OR_RETURN(RunRecord run, store.FindRun(fmt::format("R{}", id)));
      return std::optional<RunRecord>(std::move(run));
    }
    HONE_ASSIGN_OR_RETURN(const RunRows there, ReadRunRows(store, id));
    if (Identity(there) != identity) continue;
    HONE_ASSIGN_OR_RETURN(RunRecord run, store.FindRun(fmt::format("R{}", id)));
    return std::optional<RunRecord>(std::move(run));
  }
  return std::optional<RunRecord>();
}

Status PutIntoSuite(RunStore& store, const std::string& name, RunRows* rows) {
  HONE_ASSIGN_OR_RETURN(const SuiteRecord suite, store.FindSuite(name));
  const SuiteParts& parts = KnownPartsOf(suite);
  const std::string task = GetString(rows->run, "task");
  if (!parts.tasks.empty() && std::find(parts.tasks.begin(), parts.tasks.end(), task) == parts.tasks.end())
    return Broken(fmt::format("the suite {} has no task {}", name, SafeForTerminal(task)));
  rows->suite = Json{{"name", suite.name}, {"created", suite.created}, {"options", suite.options}};
  return Ok();
}

Result<int64_t> KeepSuite(RunStore& store, const Json& suite, const fs::path& suite_folder) {
  RunRows rows;
  rows.suite = suite;
  HONE_ASSIGN_OR_RETURN(const std::vector<Column> columns, ColumnsOf(store.store().handle(), "suite"));
  HONE_RETURN_IF_ERROR(CheckSuite(columns, suite));
  return InTransaction(store.store().handle(), [&] { return SuiteFor(store, rows, suite_folder); });
}

Result<Json> ReadSuiteRow(RunStore& store, int64_t id) {
  HONE_ASSIGN_OR_RETURN(std::vector<Json> rows, ReadRows(store.store().handle(), "suite", "id", id));
  if (rows.empty()) return Error{ErrorKind::kNotFound, "there is no such suite in the store"};
  Json suite = std::move(rows.front());
  HideFolder(&suite);
  return suite;
}

Result<bool> HasRunNamed(RunStore& store, const std::string& name) {
  Statement query(store.store().handle(), "SELECT count(*) FROM run WHERE name=?");
  query.Bind(1, name);
  if (!query.ok() || query.Step() != SQLITE_ROW)
    return SqlError(store.store().handle(), "cannot read the store");
  return query.Integer(0) > 0;
}

Result<bool> HasFolderOfAnother(RunStore& store, const RunRecord& run) {
  Statement query(store.store().handle(), "SELECT count(*) FROM run WHERE folder=? AND id<>?");
  query.BindAll(run.folder, run.id);
  if (!query.ok() || query.Step() != SQLITE_ROW)
    return SqlError(store.store().handle(), "cannot read the store");
  return query.Integer(0) > 0;
}

Result<std::vector<std::string>> KeysOfRun(RunStore& store, const char* table, int64_t run_id) {
  sqlite3* handle = store.store().handle();
  Statement query(handle, fmt::format("SELECT key FROM {} WHERE run_id=? ORDER BY id", table).c_str());
  query.Bind(1, run_id);
  std::vector<std::string> keys;
  int code = SQLITE_ERROR;
  while (query.ok() && (code = query.Step()) == SQLITE_ROW) keys.push_back(query.Text(0));
  if (code != SQLITE_DONE) return SqlError(handle, "cannot read the store");
  return keys;
}

Result<std::map<int64_t, RowSize>> SizesOfRuns(RunStore& store) {
  sqlite3* handle = store.store().handle();
  HONE_ASSIGN_OR_RETURN(std::vector<std::string> tables, TablesOfARun(handle));
  tables.emplace_back("run");
  std::map<int64_t, RowSize> sizes;
  for (const std::string& table : tables) {
    HONE_ASSIGN_OR_RETURN(const std::vector<Column> columns, ColumnsOf(handle, table));
    std::string bytes = "0";
    for (const Column& column : columns)
      bytes += column.type == "TEXT" ? fmt::format("+length(CAST({} AS BLOB))", column.name) : "+8";
    const char* run = table == "run" ? "id" : "run_id";
    Statement query(
        handle,
        fmt::format("SELECT {0}, count(*), sum({1}) FROM {2} GROUP BY {0}", run, bytes, table).c_str());
    int code = SQLITE_ERROR;
    while (query.ok() && (code = query.Step()) == SQLITE_ROW) {
      RowSize& size = sizes[query.Integer(0)];
      size.rows += query.Integer(1);
      size.bytes += query.Integer(2);
    }
    if (code != SQLITE_DONE) return SqlError(handle, "cannot read the store");
  }
  return sizes;
}

}  // namespace hone

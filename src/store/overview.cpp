#include "store/overview.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "store/record_io.h"
#include "store/run_result.h"
#include "store/sql.h"

namespace hone {

namespace {

struct Order {
  const char* name;
  const char* sql;
};
// Ties are broken by id, so that no row appears on two pages.
constexpr Order kOrders[] = {
    {"created", "run.id"},
    {"task", "run.task COLLATE NOCASE"},
    {"status", "run.status"},
    {"speed", "CASE WHEN run.best_key = '' THEN 0 ELSE run.vs_best END"},
    {"eager", "CASE WHEN run.best_key = '' THEN 0 ELSE run.vs_eager END"},
    {"seconds", "run.seconds"},
    {"proposer", "run.proposer COLLATE NOCASE"},
    {"device", "run.device COLLATE NOCASE"},
};

Error CannotRead(RunStore& store) {
  return SqlError(store.store().handle(), "cannot read the store");
}

// A pattern for LIKE with ESCAPE '\' that matches the word anywhere.
std::string Pattern(const std::string& word) {
  std::string pattern = "%";
  for (const char c : word) {
    if (c == '%' || c == '_' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return pattern + "%";
}

struct Where {
  std::string sql = " WHERE 1";
  std::vector<std::string> values;

  void Is(const char* column, const std::string& value) {
    if (value.empty()) return;
    sql += fmt::format(" AND {} = ?", column);
    values.push_back(value);
  }
  void Has(const std::string& words, const char* columns) {
    int most = 8;
    for (const std::string& word : Split(words, ' ')) {
      if (word.empty() || most-- == 0) continue;
      sql += fmt::format(" AND ({}) LIKE ? ESCAPE '\\'", columns);
      values.push_back(Pattern(word));
    }
  }
  void HasTag(const std::string& tag) {
    if (tag.empty()) return;
    sql += " AND (' ' || coalesce(run_note.tags, '') || ' ') LIKE ? ESCAPE '\\'";
    values.push_back(Pattern(" " + tag + " "));
  }
  void IsBelow(const char* column, const std::vector<std::string>& folders) {
    std::string any;
    for (const std::string& folder : folders) {
      any +=
          fmt::format("{}{} = ? OR substr({}, 1, length(?)) = ?", any.empty() ? "" : " OR ", column, column);
      const std::string inside = EndsWith(folder, "/") ? folder : folder + "/";
      values.insert(values.end(), {folder, inside, inside});
    }
    if (!any.empty()) sql += " AND (" + any + ")";
  }
  int BindTo(Statement& statement) const {
    int index = 1;
    for (const std::string& value : values) statement.Bind(index++, value);
    return index;
  }
};

template <class Read>
Status Each(RunStore& store, Statement& query, Read read) {
  int code = SQLITE_ERROR;
  while (query.ok() && (code = query.Step()) == SQLITE_ROW) read(query);
  return code == SQLITE_DONE ? Ok() : Status(CannotRead(store));
}

Result<std::string> NewestVerdict(RunStore& store, const char* column, const std::string& value) {
  // The newest runs may not have judged anything yet, so this looks at several.
  Statement query(
      store.store().handle(),
      fmt::format("SELECT json FROM candidate WHERE run_id IN (SELECT id FROM run WHERE {} = ? "
                  "ORDER BY id DESC LIMIT 20) AND verdict IN ('accepted', 'rejected', "
                  "'no_difference', 'inconclusive', 'cannot_judge') ORDER BY run_id DESC, id DESC LIMIT 1",
                  column)
          .c_str());
  query.Bind(1, value);
  std::string json;
  HONE_RETURN_IF_ERROR(Each(store, query, [&](Statement& row) { json = row.Text(0); }));
  return json;
}

}  // namespace

const std::vector<std::string>& RunOrders() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const Order& order : kOrders) names.emplace_back(order.name);
    return names;
  }();
  return kNames;
}

Result<RunList> ListRuns(RunStore& store, const RunQuery& asked) {
  Where where;
  where.Is("run.status", asked.status);
  where.Is("run.task", asked.task);
  where.Is("run.device", asked.device);
  where.Is("suite.name", asked.suite);
  where.Has(
      asked.words,
      "'R' || run.id || ' ' || run.task || ' ' || run.name || ' ' || run.proposer || ' ' || run.model || "
      "' ' || run.device || ' ' || run.outcome || ' ' || coalesce(run_note.text, '') || ' ' || "
      "coalesce(run_note.tags, '')");
  where.HasTag(asked.tag);
  where.IsBelow("run.folder", asked.below);
  const std::string from =
      " FROM run LEFT JOIN suite ON suite.id = run.suite_id LEFT JOIN run_note ON run_note.run_id = run.id" +
      where.sql;
  RunList list;
  Statement count(store.store().handle(), ("SELECT count(*)" + from).c_str());
  where.BindTo(count);
  HONE_RETURN_IF_ERROR(Each(store, count, [&](Statement& row) { list.total = row.Integer(0); }));

  const char* order = kOrders[0].sql;
  for (const Order& each : kOrders)
    if (asked.order == each.name) order = each.sql;
  const char* direction = asked.descending ? "DESC" : "ASC";
  Statement query(
      store.store().handle(),
      fmt::format("SELECT {}, coalesce(suite.name, ''), "
                  "(SELECT count(*) FROM candidate WHERE run_id = run.id AND phase <> 'zero'), "
                  "(SELECT count(*) FROM candidate WHERE run_id = run.id AND verdict = 'accepted'), "
                  "(SELECT total(prompt_tokens + completion_tokens) FROM call WHERE run_id = run.id)"
                  "{} ORDER BY {} {}, run.id {} LIMIT ? OFFSET ?",
                  SelectList<RunRecord>(Extent::kList, "run."), from, order, direction, direction)
          .c_str());
  int index = where.BindTo(query);
  query.Bind(index++, asked.most);
  query.Bind(index, asked.offset);
  HONE_RETURN_IF_ERROR(Each(store, query, [&](Statement& row) {
    RunRow one;
    int column = 0;
    one.run = ReadRecord<RunRecord>(row, Extent::kList, &column);
    one.suite = row.Text(column++);
    for (int64_t* field : {&one.candidates, &one.accepted, &one.tokens}) *field = row.Integer(column++);
    list.rows.push_back(std::move(one));
  }));
  return list;
}

Result<std::vector<SuiteLine>> ListSuites(RunStore& store) {
  Statement query(
      store.store().handle(),
      "SELECT suite.id, suite.name, suite.created, run.status, run.result, run.vs_best, run.degenerate "
      "FROM suite LEFT JOIN run ON run.suite_id = suite.id ORDER BY suite.id DESC");
  std::vector<SuiteLine> suites;
  std::vector<int64_t> counted;
  std::vector<double> logs;
  std::vector<double> logs_of_degenerate;
  HONE_RETURN_IF_ERROR(Each(store, query, [&](Statement& row) {
    if (suites.empty() || suites.back().suite.id != row.Integer(0)) {
      suites.emplace_back();
      suites.back().suite = SuiteRecord{row.Integer(0), row.Text(1), row.Text(2), ""};
      counted.push_back(0);
      logs.push_back(0);
      logs_of_degenerate.push_back(0);
    }
    const std::string status = row.Text(3);
    if (status.empty()) return;
    SuiteLine& suite = suites.back();
    ++suite.tasks;
    suite.done += status == "done" ? 1 : 0;
    suite.running += status == "running" ? 1 : 0;
    const std::string result = row.Text(4);
    suite.failed += result == kRunFailed ? 1 : 0;
    suite.nothing_tried += result == kNothingTried ? 1 : 0;
    counted.back() += CountsInMeans(result) ? 1 : 0;
    const bool degenerate = CountsInMeans(result) && !row.Text(6).empty();
    suite.degenerate += degenerate ? 1 : 0;
    if (result != kAccepted) return;
    ++suite.faster;
    const double log = std::log(std::max(row.Number(5), 1e-9));
    logs.back() += log;
    if (degenerate) logs_of_degenerate.back() += log;
  }));
  for (size_t i = 0; i < suites.size(); ++i) {
    const int64_t others = counted[i] - suites[i].degenerate;
    if (counted[i] > 0) suites[i].geomean_vs_best = std::exp(logs[i] / static_cast<double>(counted[i]));
    if (others > 0)
      suites[i].geomean_without_degenerate =
          std::exp((logs[i] - logs_of_degenerate[i]) / static_cast<double>(others));
  }
  return suites;
}

Result<std::vector<DeviceLine>> ListDevices(RunStore& store) {
  Statement query(store.store().handle(),
                  "SELECT device, group_concat(DISTINCT target), count(*), count(DISTINCT task), "
                  "total(best_key <> ''), max(id), max(created) FROM run WHERE device <> '' GROUP BY device "
                  "ORDER BY max(id) DESC LIMIT 200");
  std::vector<DeviceLine> devices;
  HONE_RETURN_IF_ERROR(Each(store, query, [&](Statement& row) {
    devices.push_back(DeviceLine{row.Text(0), ReplaceAll(row.Text(1), ",", ", "), row.Integer(2),
                                 row.Integer(3), static_cast<int64_t>(row.Number(4)), row.Integer(5),
                                 row.Text(6)});
  }));
  return devices;
}

Result<std::vector<std::string>> DeviceNames(RunStore& store) {
  Statement query(store.store().handle(),
                  "SELECT DISTINCT device FROM run WHERE device <> '' ORDER BY device LIMIT 200");
  std::vector<std::string> names;
  HONE_RETURN_IF_ERROR(Each(store, query, [&](Statement& row) { names.push_back(row.Text(0)); }));
  return names;
}

Result<StoreTotals> Totals(RunStore& store) {
  StoreTotals totals;
  sqlite3* handle = store.store().handle();
  Statement runs(handle, "SELECT status, count(*) FROM run GROUP BY status");
  HONE_RETURN_IF_ERROR(Each(store, runs, [&](Statement& row) { totals.runs[row.Text(0)] = row.Integer(1); }));
  Statement seconds(handle, "SELECT total(seconds), (SELECT count(*) FROM suite) FROM run");
  HONE_RETURN_IF_ERROR(Each(store, seconds, [&](Statement& row) {
    totals.run_seconds = row.Number(0);
    totals.suites = row.Integer(1);
  }));
  Statement candidates(handle, "SELECT verdict, reason, count(*) FROM candidate GROUP BY verdict, reason");
  HONE_RETURN_IF_ERROR(Each(store, candidates, [&](Statement& row) {
    totals.candidates[{row.Text(0), row.Text(1)}] = row.Integer(2);
  }));
  Statement calls(handle,
                  fmt::format("SELECT {} FROM call", SelectList<UsageTotals>(Extent::kWhole)).c_str());
  HONE_RETURN_IF_ERROR(Each(
      store, calls, [&](Statement& row) { totals.usage = ReadRecord<UsageTotals>(row, Extent::kWhole); }));
  return totals;
}

Result<std::string> NewestVerdictOfTask(RunStore& store, const std::string& task) {
  return NewestVerdict(store, "task", task);
}

Result<std::string> NewestVerdictOnDevice(RunStore& store, const std::string& device) {
  return NewestVerdict(store, "device", device);
}

}  // namespace hone

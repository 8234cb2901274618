// The data as JSON for programs: /api/runs, /api/runs/R1, /api/runs/R1/explain, /api/compare,
// /api/runs/R1/candidates/KEY, /api/suites, /api/suites/NAME, /api/tasks, /api/tasks/NAME, /api/devices.
// Numbers are as stored. Texts of models and candidates are not escaped, so nothing here is sent as HTML.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/clock.h"
#include "base/text.h"
#include "dashboard/cluster_view.h"
#include "dashboard/pages.h"
#include "dashboard/views.h"
#include "pipeline/run_lock.h"
#include "report/run_report.h"
#include "report/suite_report.h"
#include "store/overview.h"
#include "store/record_io.h"
#include "store/run_notes.h"

namespace hone {

namespace {

int64_t Bounded(const std::string& text, int64_t fallback, int64_t most) {
  int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) return fallback;
  return std::clamp<int64_t>(number, 0, most);
}

OrderedJson RunJson(const RunRecord& run) {
  OrderedJson json = RunToJson(run);
  json["status"] = StatusOf(run, IsAbandoned(run));
  return json;
}

OrderedJson CandidateJson(const CandidateRecord& one, Extent extent) {
  OrderedJson json = RecordToJson(one, extent);
  json.erase("proposer");  // belongs to the run
  return json;
}

HttpReply RunsJson(const PageContext& page) {
  const HttpRequest& request = page.request;
  RunQuery query;
  query.words = request.Query("q").substr(0, 200);
  query.status = request.Query("status");
  query.task = request.Query("task");
  query.device = request.Query("device");
  query.suite = request.Query("suite");
  query.tag = request.Query("tag");
  if (request.HasQuery("sort")) query.order = request.Query("sort");
  query.descending = request.Query("dir") != "up";
  query.offset = Bounded(request.Query("offset"), 0, 1'000'000'000);
  query.most = Bounded(request.Query("most"), 50, 500);
  const Result<RunList> list = ListRuns(page.store, query);
  if (!list.ok()) return JsonError(list.error());
  OrderedJson json = {{"total", list->total}, {"runs", OrderedJson::array()}};
  for (const RunRow& row : list->rows) {
    OrderedJson one = RunJson(row.run);
    one["suite"] = row.suite;
    one["candidates"] = row.candidates;
    one["accepted"] = row.accepted;
    one["tokens"] = row.tokens;
    json["runs"].push_back(std::move(one));
  }
  return JsonReply(json);
}

HttpReply RunDetailsJson(const PageContext& page, const std::string& id) {
  const Result<RunRecord> run = FindRunById(page.store, id);
  if (!run.ok()) return JsonError(run.error());
  const Result<std::vector<CandidateRecord>> candidates = page.store.CandidateSummaries(run->id);
  if (!candidates.ok()) return JsonError(candidates.error());
  const Result<std::vector<DecisionRecord>> decisions = page.store.Decisions(run->id);
  if (!decisions.ok()) return JsonError(decisions.error());
  const Result<UsageTotals> usage = page.store.Usage(run->id);
  if (!usage.ok()) return JsonError(usage.error());
  const Result<RunNote> note = ReadRunNote(page.store, run->id);
  if (!note.ok()) return JsonError(note.error());
  OrderedJson json = RunJson(*run);
  json["usage"] = RecordToJson(*usage, Extent::kWhole);
  json["note"] = note->text;
  json["tags"] = note->tags;
  json["candidates"] = OrderedJson::array();
  for (const CandidateRecord& one : *candidates)
    json["candidates"].push_back(CandidateJson(one, Extent::kList));
  json["decisions"] = OrderedJson::array();
  for (const DecisionRecord& one : *decisions)
    json["decisions"].push_back({{"key", one.key}, {"phase", one.phase}, {"text", one.text}});
  return JsonReply(json);
}

HttpReply CandidateDetailsJson(const PageContext& page, const std::string& id, const std::string& key) {
  const Result<RunRecord> run = FindRunById(page.store, id);
  if (!run.ok()) return JsonError(run.error());
  const Result<std::optional<CandidateRecord>> one = page.store.Candidate(run->id, key);
  if (!one.ok()) return JsonError(one.error());
  if (!*one) return JsonError(Error{ErrorKind::kNotFound, "this run has no candidate of that name"});
  OrderedJson json = CandidateJson(**one, Extent::kWhole);
  return JsonReply(json);
}

HttpReply SuitesJson(const PageContext& page) {
  const Result<std::vector<SuiteLine>> suites = ListSuites(page.store);
  if (!suites.ok()) return JsonError(suites.error());
  OrderedJson json = {{"suites", OrderedJson::array()}};
  for (const SuiteLine& each : *suites)
    json["suites"].push_back(
        {{"name", each.suite.name},
         {"created", each.suite.created},
         {"tasks", each.tasks},
         {"done", each.done},
         {"running", each.running},
         {"faster", each.faster},
         {"geomean_vs_best", MeanJson(each.geomean_vs_best)},
         {"degenerate", each.degenerate},
         {"geomean_vs_best_without_degenerate", MeanJson(each.geomean_without_degenerate)}});
  return JsonReply(json);
}

HttpReply SuiteJson(const PageContext& page, const std::string& name) {
  const Result<SuiteRecord> suite = page.store.FindSuite(name);
  if (!suite.ok()) return JsonError(suite.error());
  const Result<SuiteSummary> summary = Summarise(page.store, *suite);
  if (!summary.ok()) return JsonError(summary.error());
  OrderedJson json = SuiteToJson(*summary);
  const Json cluster = ClusterProgress(*suite, static_cast<double>(UnixSeconds()));
  if (!cluster.is_null()) json["cluster"] = OrderedJson(cluster);
  return JsonReply(json);
}

// An empty `task` selects all.
HttpReply TasksJson(const PageContext& page, const std::string& task) {
  Result<OrderedJson> tasks = LeaderboardJson(page, task);
  if (!tasks.ok()) return JsonError(tasks.error());
  OrderedJson json = {{"tasks", std::move(*tasks)}};
  if (task.empty()) return JsonReply(json);
  if (json["tasks"].empty())
    return JsonError(Error{ErrorKind::kNotFound, "no run of that task is in the store"});
  const Result<std::string> verdict = NewestVerdictOfTask(page.store, task);
  if (!verdict.ok()) return JsonError(verdict.error());
  const Json record = JsonOrNull(*verdict);
  json["card"] = GetMember(record, "card");
  json["mutants"] = GetMember(GetMember(record, "provenance"), "mutants");
  return JsonReply(json);
}

HttpReply DevicesJson(const PageContext& page) {
  const Result<std::vector<DeviceLine>> devices = ListDevices(page.store);
  if (!devices.ok()) return JsonError(devices.error());
  OrderedJson json = {{"devices", OrderedJson::array()}};
  for (const DeviceLine& line : *devices) {
    const Result<std::string> verdict = NewestVerdictOnDevice(page.store, line.device);
    if (!verdict.ok()) return JsonError(verdict.error());
    json["devices"].push_back({{"device", line.device},
                               {"targets", line.targets},
                               {"runs", line.runs},
                               {"tasks", line.tasks},
                               {"faster", line.faster},
                               {"last_used", line.last_used},
                               {"provenance", GetMember(JsonOrNull(*verdict), "provenance")}});
  }
  return JsonReply(json);
}

}  // namespace

HttpReply Api(const PageContext& page, const std::string& path) {
  if (path == "/runs") return RunsJson(page);
  if (path == "/suites") return SuitesJson(page);
  if (path == "/tasks" || path == "/leaderboard") return TasksJson(page, "");
  if (path == "/devices") return DevicesJson(page);
  if (path == "/compare") return CompareJson(page);
  if (StartsWith(path, "/suites/")) return SuiteJson(page, path.substr(8));
  if (StartsWith(path, "/tasks/")) return TasksJson(page, path.substr(7));
  if (StartsWith(path, "/runs/")) {
    const std::string rest = path.substr(6);
    const size_t slash = rest.find('/');
    if (slash == std::string::npos) return RunDetailsJson(page, rest);
    const std::string part = rest.substr(slash + 1);
    if (part == "explain") return ExplainJson(page, rest.substr(0, slash));
    if (StartsWith(part, "candidates/"))
      return CandidateDetailsJson(page, rest.substr(0, slash), part.substr(11));
  }
  return JsonError(Error{ErrorKind::kNotFound, "there is nothing of that name"});
}

}  // namespace hone

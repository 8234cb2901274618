// The list of runs, filtered, sorted and paged by the store; the list of suites; one suite.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/clock.h"
#include "base/text.h"
#include "dashboard/cluster_view.h"
#include "dashboard/pages.h"
#include "dashboard/views.h"
#include "pipeline/run_lock.h"
#include "report/html_page.h"
#include "report/suite_report.h"
#include "store/overview.h"
#include "store/run_notes.h"

namespace hone {

namespace {

constexpr int64_t kPageRows = 50;

using Fields = std::vector<std::pair<std::string, std::string>>;

int64_t NumberOr(const std::string& text, int64_t fallback) {
  int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size() ? number : fallback;
}

// The URL of this list with some fields changed. Empty fields are left out.
std::string ListLink(const std::string& path, const HttpRequest& request, const Fields& changed) {
  Fields fields;
  for (const char* name : {"q", "status", "task", "device", "suite", "tag", "sort", "dir", "page"}) {
    std::string value = request.Query(name);
    for (const auto& [key, now] : changed)
      if (key == name) value = now;
    if (!value.empty()) fields.emplace_back(name, value);
  }
  return fields.empty() ? path : path + "?" + FormText(fields);
}

Json Columns(const HttpRequest& request, const RunQuery& query, const std::string& path) {
  static constexpr struct {
    const char* name;  // empty: not sortable
    const char* title;
    bool down;  // the order after the first click
    bool number;
  } kColumns[] = {{"created", "Run", true, false},        {"task", "Task", false, false},
                  {"status", "Status", false, false},     {"speed", "vs best PyTorch", true, true},
                  {"eager", "vs eager", true, true},      {"", "Candidates", true, true},
                  {"proposer", "Proposer", false, false}, {"device", "Device", false, false},
                  {"seconds", "Took", true, true}};
  Json columns = Json::array();
  for (const auto& each : kColumns) {
    const bool current = query.order == each.name;
    const bool next_down = current ? !query.descending : each.down;
    columns.push_back(
        {{"title", each.title},
         {"sortable", *each.name != '\0'},
         {"number", each.number},
         {"state", !current           ? "none"
                   : query.descending ? "descending"
                                      : "ascending"},
         {"mark", !current           ? ""
                  : query.descending ? "▾"
                                     : "▴"},
         {"link",
          ListLink(path, request, {{"sort", each.name}, {"dir", next_down ? "down" : "up"}, {"page", ""}})}});
  }
  return columns;
}

Json Choices(const std::vector<std::string>& names, const std::string& chosen) {
  Json choices = Json::array();
  for (const std::string& name : names) choices.push_back({{"name", name}, {"chosen", name == chosen}});
  return choices;
}

}  // namespace

HttpReply RunsPage(const PageContext& page) {
  const HttpRequest& request = page.request;
  RunQuery query;
  query.words = request.Query("q").substr(0, 200);
  query.status = request.Query("status");
  query.task = request.Query("task");
  query.device = request.Query("device");
  query.suite = request.Query("suite");
  query.tag = request.Query("tag");
  const std::vector<std::string>& orders = RunOrders();
  if (std::find(orders.begin(), orders.end(), request.Query("sort")) != orders.end())
    query.order = request.Query("sort");
  query.descending = request.Query("dir") != "up";
  query.most = kPageRows;
  const int64_t number = std::clamp<int64_t>(NumberOr(request.Query("page"), 1), 1, 1'000'000);
  query.offset = (number - 1) * kPageRows;
  const Result<RunList> list = ListRuns(page.store, query);
  if (!list.ok()) return ErrorPage(list.error());
  const Result<std::vector<std::string>> devices = DeviceNames(page.store);
  if (!devices.ok()) return ErrorPage(devices.error());
  const Result<std::map<int64_t, RunNote>> notes = ReadRunNotes(page.store);
  if (!notes.ok()) return ErrorPage(notes.error());
  const Result<std::vector<std::string>> tags = AllTags(page.store);
  if (!tags.ok()) return ErrorPage(tags.error());

  Json rows = Json::array();
  bool live = false;
  for (const RunRow& row : list->rows) {
    Json view = RunValues(row.run, IsAbandoned(row.run));
    live = live || view["live"] == true;
    view["suite"] = row.suite;
    view["candidates"] = row.candidates;
    view["accepted"] = row.accepted;
    const auto note = notes->find(row.run.id);
    view["tags"] = note == notes->end() ? Json::array() : TagValues(note->second.tags);
    view["has_note"] = note != notes->end() && !note->second.text.empty();
    view["note"] = note == notes->end() ? "" : note->second.text;
    rows.push_back(std::move(view));
  }
  const int64_t pages = std::max<int64_t>(1, (list->total + kPageRows - 1) / kPageRows);
  const bool filtered = !query.words.empty() || !query.status.empty() || !query.task.empty() ||
                        !query.device.empty() || !query.suite.empty() || !query.tag.empty();
  Json values = {
      {"q", query.words},
      {"task", query.task},
      {"suite", query.suite},
      {"sort", request.Query("sort")},
      {"dir", request.Query("dir")},
      {"statuses", Choices({"running", "done", "stopped", "failed"}, query.status)},
      {"devices", Choices(*devices, query.device)},
      {"tags", Choices(*tags, query.tag)},
      {"columns", Columns(request, query, "/runs")},
      {"rows", rows},
      {"live", live},
      {"filtered", filtered},
      {"total", list->total},
      {"first", list->rows.empty() ? 0 : query.offset + 1},
      {"last", query.offset + static_cast<int64_t>(list->rows.size())},
      {"previous",
       number > 1 ? ListLink("/runs", request, {{"page", std::to_string(std::min(number, pages + 1) - 1)}})
                  : ""},
      {"next", number < pages ? ListLink("/runs", request, {{"page", std::to_string(number + 1)}}) : ""},
      {"actions", page.rules.allow_actions},
      {"csrf", page.rules.csrf}};
  return RenderPage("runs", "Runs", "runs", std::move(values), live);
}

HttpReply SuitesPage(const PageContext& page) {
  const Result<std::vector<SuiteLine>> suites = ListSuites(page.store);
  if (!suites.ok()) return ErrorPage(suites.error());
  Json rows = Json::array();
  for (const SuiteLine& each : *suites)
    rows.push_back({{"name", each.suite.name},
                    {"link", "/suites/" + PercentEncode(each.suite.name)},
                    {"created", ShortTime(each.suite.created)},
                    {"tasks", each.tasks},
                    {"done", each.done},
                    {"running", each.running},
                    {"faster", each.faster},
                    {"failed", each.failed},
                    {"geomean", SpeedText(each.geomean_vs_best.value_or(0))}});
  return RenderPage("suites", "Suites", "suites", {{"rows", rows}});
}

HttpReply SuitePage(const PageContext& page, const std::string& name) {
  const Result<SuiteRecord> suite = page.store.FindSuite(name);
  if (!suite.ok()) return ErrorPage(suite.error());
  const Result<SuiteSummary> summary = Summarise(page.store, *suite);
  if (!summary.ok()) return ErrorPage(summary.error());
  Json rows = Json::array();
  bool live = false;
  for (const SuiteRow& row : summary->rows) {
    Json view = RunValues(row.run, IsAbandoned(row.run));
    live = live || view["live"] == true;
    view["right"] = row.right;
    view["candidates"] = row.candidates;
    view["tokens"] = row.usage.prompt_tokens + row.usage.completion_tokens;
    rows.push_back(std::move(view));
  }
  const Json cluster = ClusterPanel(*suite, static_cast<double>(UnixSeconds()));
  live = live || GetBool(cluster, "live");
  const std::optional<Plot> plot = SuitePlot(*summary);
  const auto percent = [](double share) { return fmt::format("{:.0f}%", 100 * share); };
  return RenderPage(
      "suite", name, "suites",
      {{"name", suite->name},
       {"runs_link", "/runs?" + FormText({{"suite", suite->name}})},
       {"created", ShortTime(suite->created)},
       {"rows", rows},
       {"count", summary->rows.size()},
       {"counted", summary->counted},
       {"not_counted", static_cast<int64_t>(summary->rows.size()) - summary->counted},
       {"not_counted_words", NotCountedWords(*summary)},
       {"missing", summary->missing.tasks.size()},
       {"missing_words", MissingWords(*summary)},
       {"on_cluster", !cluster.is_null()},
       {"cluster", cluster},
       {"html_plot", plot ? PlotFigure(*plot) : ""},
       {"correct", percent(summary->correct)},
       {"fast_1", percent(summary->fast_1)},
       {"fast_2", percent(summary->fast_2)},
       {"geomean", SpeedText(summary->geomean_vs_best.value_or(0))},
       {"geomean_eager", SpeedText(summary->geomean_vs_eager.value_or(0))},
       {"degenerate", summary->degenerate},
       {"degenerate_words", DegenerateWords(*summary)},
       {"geomean_without", SpeedText(summary->geomean_vs_best_without_degenerate.value_or(0))},
       {"tokens", summary->tokens},
       {"cost", summary->price_known ? fmt::format("${:.4f}", summary->cost_usd) : "price not known"}},
      live);
}

}  // namespace hone

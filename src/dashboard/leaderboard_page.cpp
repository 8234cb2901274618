// The leaderboard: the best accepted result of every task. Results of one task rank by the lower end of their
// 95% interval. Speed-ups of different tasks are not comparable, so tasks are sorted by name. Results on
// different devices, versions or baselines are in separate tables for the same reason.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

#include "base/text.h"
#include "dashboard/pages.h"
#include "dashboard/views.h"
#include "store/overview.h"
#include "store/run_result.h"
#include "store/standings.h"

namespace hone {

namespace {

Json EntryValues(const StandingGroup& group) {
  const Standing& best = group.runs[0];
  return {{"task", group.task},
          {"link", TaskLink(group.task)},
          {"text", group.task_sha256.substr(0, 8)},
          {"low", SpeedText(best.ci_low)},
          {"speed", SpeedText(best.vs_best)},
          {"interval", IntervalText(best.ci_low, best.ci_high)},
          {"eager", SpeedText(best.vs_eager)},
          {"best_key", best.best_key},
          {"best_link", CandidateLink(best.run_id, best.best_key)},
          {"run", fmt::format("R{}", best.run_id)},
          {"run_link", RunLink(best.run_id)},
          {"proposer", best.proposer.substr(0, best.proposer.find(':'))},
          {"model", best.model},
          {"kind", best.kind},
          {"kernel_class", best.kernel_class},
          {"runs", group.runs.size()}};
}

// One table per device and setting, in the order of their best entries. Its rows are sorted by the task's
// number, then by its name. A task whose text changed appears once for each text, and the row says which.
Json SettingTables(std::vector<StandingGroup> groups) {
  std::map<std::pair<std::string, std::string>, size_t> places;
  for (const StandingGroup& group : groups)
    places.emplace(std::pair(group.device, group.setting), places.size());
  std::stable_sort(groups.begin(), groups.end(), [&](const StandingGroup& a, const StandingGroup& b) {
    const auto order = [&](const StandingGroup& one) {
      return std::tuple(places[{one.device, one.setting}], std::atoi(one.task.c_str()), one.task);
    };
    return order(a) < order(b);
  });
  Json tables = Json::array();
  for (const StandingGroup& group : groups) {
    Json* table = nullptr;
    for (Json& each : tables)
      if (GetString(each, "device") == group.device && GetString(each, "setting") == group.setting)
        table = &each;
    if (table == nullptr) {
      tables.push_back({{"device", group.device}, {"setting", group.setting}, {"rows", Json::array()}});
      table = &tables[tables.size() - 1];
    }
    Json entry = EntryValues(group);
    entry["several_texts"] =
        std::count_if(groups.begin(), groups.end(), [&](const StandingGroup& other) {
          return other.task == group.task && other.device == group.device && other.setting == group.setting;
        }) > 1;
    (*table)["rows"].push_back(std::move(entry));
  }
  return tables;
}

Json UnsolvedValues(const std::vector<UnsolvedTask>& unsolved) {
  Json rows = Json::array();
  for (const UnsolvedTask& one : unsolved)
    rows.push_back({{"task", one.task},
                    {"link", TaskLink(one.task)},
                    {"device", one.device},
                    {"result_words", ResultWords(one.result)},
                    {"result_tone", ToneOfResult(one.result)},
                    {"run", fmt::format("R{}", one.newest_run)},
                    {"run_link", RunLink(one.newest_run)},
                    {"runs", one.runs}});
  return rows;
}

OrderedJson EntryJson(const StandingGroup& group) {
  const Standing& best = group.runs[0];
  return {{"task", group.task},
          {"task_sha256", group.task_sha256},
          {"device", group.device},
          {"setting", group.setting},
          {"result", kAccepted},
          {"runs", group.runs.size()},
          {"best_run", fmt::format("R{}", best.run_id)},
          {"best", best.best_key},
          {"vs_best", best.vs_best},
          {"ci95", {best.ci_low, best.ci_high}},
          {"vs_eager", best.vs_eager},
          {"kind", best.kind},
          {"kernel_class", best.kernel_class},
          {"proposer", best.proposer},
          {"model", best.model}};
}

}  // namespace

HttpReply LeaderboardPage(const PageContext& page) {
  const std::string words = page.request.Query("q").substr(0, 200);
  const std::string device = page.request.Query("device");
  const Result<Leaderboard> board = RankTasks(page.store, device, words);
  if (!board.ok()) return ErrorPage(board.error());
  const Result<std::vector<std::string>> devices = DeviceNames(page.store);
  if (!devices.ok()) return ErrorPage(devices.error());
  Json choices = Json::array();
  for (const std::string& each : *devices) choices.push_back({{"name", each}, {"chosen", each == device}});
  return RenderPage("leaderboard", "Leaderboard", "leaderboard",
                    {{"tables", SettingTables(board->groups)},
                     {"unsolved", UnsolvedValues(board->unsolved)},
                     {"q", words},
                     {"devices", choices},
                     {"filtered", !words.empty() || !device.empty()}});
}

Result<OrderedJson> LeaderboardJson(const PageContext& page, const std::string& task) {
  HONE_ASSIGN_OR_RETURN(const Leaderboard board, RankTasks(page.store, page.request.Query("device"),
                                                           page.request.Query("q").substr(0, 200)));
  OrderedJson tasks = OrderedJson::array();
  for (const StandingGroup& group : board.groups)
    if (task.empty() || group.task == task) tasks.push_back(EntryJson(group));
  for (const UnsolvedTask& one : board.unsolved)
    if (task.empty() || one.task == task)
      tasks.push_back({{"task", one.task},
                       {"device", one.device},
                       {"result", one.result},
                       {"runs", one.runs},
                       {"newest_run", fmt::format("R{}", one.newest_run)}});
  return tasks;
}

}  // namespace hone

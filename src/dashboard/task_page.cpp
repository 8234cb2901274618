// Tasks: the leaderboard over all of them, and one task with its card, what its judge cannot tell apart, its
// best results and its runs.
#include <fmt/format.h>

#include "base/text.h"
#include "dashboard/pages.h"
#include "dashboard/views.h"
#include "pipeline/run_lock.h"
#include "store/overview.h"
#include "task/card.h"

namespace hone {

namespace {

Json TaskValues(const TaskLine& line) {
  const bool won = line.best_run > 0;
  return {{"task", line.task},
          {"link", TaskLink(line.task)},
          {"device", line.device},
          {"runs", line.runs},
          {"won", won},
          {"speed", won ? SpeedText(line.vs_best) : "1.00x"},
          {"interval", won ? IntervalText(line.ci_low, line.ci_high) : ""},
          {"eager", won ? SpeedText(line.vs_eager) : ""},
          {"best_key", line.best_key},
          {"best_link", won ? CandidateLink(line.best_run, line.best_key) : ""},
          {"run", won ? fmt::format("R{}", line.best_run) : ""},
          {"run_link", won ? RunLink(line.best_run) : ""},
          {"proposer", line.proposer.substr(0, line.proposer.find(':'))},
          {"model", line.model},
          {"kind", line.kind},
          {"kernel_class", line.kernel_class}};
}

// The card as a stored verdict has it, or as the run learnt it.
Json CardPairs(const Json& stored) {
  if (!stored.is_object()) return Json::array();
  return PairsOf(CardText(CardFromJson(stored)));
}

}  // namespace

HttpReply LeaderboardPage(const PageContext& page) {
  const std::string words = page.request.Query("q").substr(0, 200);
  const std::string device = page.request.Query("device");
  const Result<std::vector<TaskLine>> tasks = ListTasks(page.store, device, words);
  if (!tasks.ok()) return ErrorPage(tasks.error());
  const Result<std::vector<std::string>> devices = DeviceNames(page.store);
  if (!devices.ok()) return ErrorPage(devices.error());
  Json rows = Json::array();
  int64_t won = 0;
  for (const TaskLine& line : *tasks) {
    rows.push_back(TaskValues(line));
    won += line.best_run > 0 ? 1 : 0;
  }
  Json choices = Json::array();
  for (const std::string& each : *devices) choices.push_back({{"name", each}, {"chosen", each == device}});
  return RenderPage("leaderboard", "Leaderboard", "leaderboard",
                    {{"rows", rows},
                     {"won", won},
                     {"q", words},
                     {"devices", choices},
                     {"filtered", !words.empty() || !device.empty()}});
}

HttpReply TaskPage(const PageContext& page, const std::string& task) {
  RunQuery query;
  query.task = task;
  query.most = 30;
  const Result<RunList> runs = ListRuns(page.store, query);
  if (!runs.ok()) return ErrorPage(runs.error());
  if (runs->rows.empty()) return ErrorPage(404, "no run of that task is in the store");
  const Result<RunRecord> newest = FindRunById(page.store, fmt::format("R{}", runs->rows[0].run.id));
  if (!newest.ok()) return ErrorPage(newest.error());
  const Result<std::string> stored = NewestVerdictOfTask(page.store, task);
  if (!stored.ok()) return ErrorPage(stored.error());
  const Json verdict = JsonOrNull(*stored);
  const Result<std::vector<TaskLine>> lines = ListTasks(page.store, "", "");
  if (!lines.ok()) return ErrorPage(lines.error());

  Json bests = Json::array();
  for (const TaskLine& line : *lines)
    if (line.task == task) bests.push_back(TaskValues(line));
  Json card = CardPairs(GetMember(verdict, "card"));
  if (card.empty()) card = CardPairs(GetMember(JsonOrNull(newest->card), "card"));
  Json mutants = Json::array();
  int64_t blind = 0;
  const Json& audit = GetMember(GetMember(verdict, "provenance"), "mutants");
  if (audit.is_array())
    for (const Json& each : audit) {
      const bool apart = GetBool(each, "told_apart");
      blind += apart ? 0 : 1;
      mutants.push_back({{"name", GetString(each, "name")},
                         {"times", HumanNumber(GetNumber(each, "times_over_limit"))},
                         {"regime", GetString(each, "regime")},
                         {"apart", apart}});
    }
  Json rows = Json::array();
  for (const RunRow& row : runs->rows) {
    Json view = RunValues(row.run, IsAbandoned(row.run));
    view["candidates"] = row.candidates;
    view["accepted"] = row.accepted;
    rows.push_back(std::move(view));
  }
  const size_t kinds = mutants.size();
  return RenderPage("task", task, "leaderboard",
                    {{"task", task},
                     {"path", newest->task_path},
                     {"sha256", newest->task_sha256},
                     {"bests", bests},
                     {"card", card},
                     {"mutants", mutants},
                     {"mutant_count", kinds},
                     {"blind", blind},
                     {"all_blind", kinds > 0 && blind == static_cast<int64_t>(kinds)},
                     {"rows", rows},
                     {"more", runs->total > static_cast<int64_t>(runs->rows.size())},
                     {"total", runs->total},
                     {"more_link", "/runs?" + FormText({{"task", task}})},
                     {"source", newest->task_source}});
}

}  // namespace hone

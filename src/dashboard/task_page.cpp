// One task: its history, its comparable results, its card, mistakes that the judge cannot detect, its runs
// and its source.
#include <fmt/format.h>

#include "base/text.h"
#include "dashboard/pages.h"
#include "dashboard/views.h"
#include "pipeline/run_lock.h"
#include "report/html_fragments.h"
#include "store/overview.h"
#include "store/run_result.h"
#include "store/standings.h"
#include "task/card.h"

namespace hone {

namespace {

constexpr int64_t kMostHistory = 500;

// The card from a stored verdict, or as the run recorded it.
Json CardPairs(const Json& stored) {
  if (!stored.is_object()) return Json::array();
  return PairsOf(CardText(CardFromJson(stored)));
}

Json StandingValues(const Standing& one, const Standing& first) {
  return {{"run", fmt::format("R{}", one.run_id)},
          {"run_link", RunLink(one.run_id)},
          {"created", ShortTime(one.created)},
          {"key", one.best_key},
          {"link", CandidateLink(one.run_id, one.best_key)},
          {"low", SpeedText(one.ci_low)},
          {"speed", SpeedText(one.vs_best)},
          {"interval", IntervalText(one.ci_low, one.ci_high)},
          {"eager", SpeedText(one.vs_eager)},
          {"proposer", one.proposer.substr(0, one.proposer.find(':'))},
          {"model", one.model},
          {"kind", one.kind},
          // The first place is certain only if no other interval overlaps its own.
          {"tied", one.run_id != first.run_id && IntervalsOverlap(one, first)}};
}

Json GroupValues(const std::vector<StandingGroup>& groups) {
  Json tables = Json::array();
  for (const StandingGroup& group : groups) {
    Json rows = Json::array();
    for (const Standing& one : group.runs) rows.push_back(StandingValues(one, group.runs[0]));
    tables.push_back({{"device", group.device},
                      {"setting", group.setting},
                      {"text", group.task_sha256.substr(0, 8)},
                      {"rows", rows}});
  }
  return tables;
}

Json MutantValues(const Json& verdict, int64_t* blind) {
  Json mutants = Json::array();
  const Json& audit = GetMember(GetMember(verdict, "provenance"), "mutants");
  if (!audit.is_array()) return mutants;
  for (const Json& each : audit) {
    const bool apart = GetBool(each, "told_apart");
    *blind += apart ? 0 : 1;
    mutants.push_back({{"name", GetString(each, "name")},
                       {"times", HumanNumber(GetNumber(each, "times_over_limit"))},
                       {"regime", GetString(each, "regime")},
                       {"apart", apart}});
  }
  return mutants;
}

Result<HttpReply> Page(const PageContext& page, const std::string& task) {
  RunQuery query;
  query.task = task;
  query.most = 30;
  HONE_ASSIGN_OR_RETURN(const RunList runs, ListRuns(page.store, query));
  if (runs.rows.empty()) return Error{ErrorKind::kNotFound, "no run of that task is in the store"};
  HONE_ASSIGN_OR_RETURN(const RunRecord newest,
                        FindRunById(page.store, fmt::format("R{}", runs.rows[0].run.id)));
  HONE_ASSIGN_OR_RETURN(const std::string stored, NewestVerdictOfTask(page.store, task));
  const Json verdict = JsonOrNull(stored);
  HONE_ASSIGN_OR_RETURN(const std::vector<Standing> history, TaskHistory(page.store, task, kMostHistory));

  Json card = CardPairs(GetMember(verdict, "card"));
  if (card.empty()) card = CardPairs(GetMember(JsonOrNull(newest.card), "card"));
  int64_t blind = 0;
  const Json mutants = MutantValues(verdict, &blind);
  Json rows = Json::array();
  for (const RunRow& row : runs.rows) {
    Json view = RunValues(row.run, IsAbandoned(row.run));
    view["candidates"] = row.candidates;
    view["accepted"] = row.accepted;
    rows.push_back(std::move(view));
  }
  const std::optional<Plot> plot = HistoryPlot(history);
  const int64_t kinds = static_cast<int64_t>(mutants.size());
  return RenderPage("task", task, "leaderboard",
                    {{"task", task},
                     {"path", newest.task_path},
                     {"sha256", newest.task_sha256},
                     {"html_history", plot ? PlotFigure(*plot) : ""},
                     {"tables", GroupValues(GroupComparable(history))},
                     {"newest_result", ResultWords(newest.result)},
                     {"newest_outcome", newest.outcome},
                     {"card", card},
                     {"mutants", mutants},
                     {"mutant_count", kinds},
                     {"blind", blind},
                     {"all_blind", kinds > 0 && blind == kinds},
                     {"rows", rows},
                     {"more", runs.total > static_cast<int64_t>(runs.rows.size())},
                     {"total", runs.total},
                     {"more_link", "/runs?" + FormText({{"task", task}})},
                     {"html_source", SourceWithFindings(newest.task_source, Json::array(), "task")}});
}

}  // namespace

HttpReply TaskPage(const PageContext& page, const std::string& task) {
  Result<HttpReply> reply = Page(page, task);
  return reply.ok() ? std::move(*reply) : ErrorPage(reply.error());
}

}  // namespace hone

#include "store/standings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "evaluation/truth.h"
#include "store/run_result.h"
#include "store/sql.h"

namespace hone {

namespace {

constexpr char kSelect[] =
    "SELECT run.id, run.created, run.task, run.task_sha256, run.device, run.result, run.best_key, "
    "run.proposer, run.model, coalesce(candidate.kind, ''), coalesce(candidate.kernel_class, ''), "
    "coalesce(candidate.vs_best, 0), coalesce(candidate.ci_low, 0), coalesce(candidate.ci_high, 0), "
    "coalesce(candidate.vs_eager, 0), "
    "CASE WHEN json_valid(candidate.json) THEN json_extract(candidate.json, '$.provenance.torch', "
    "'$.provenance.facts.cuda', '$.provenance.triton', '$.provenance.target', '$.provenance.threads', "
    "'$.provenance.precision', '$.provenance.ladder', '$.provenance.limit_rule', '$.provenance.allow_blind', "
    "'$.provenance.hone', '$.from_store.id') ELSE '' END "
    "FROM run LEFT JOIN candidate ON run.best_key <> '' AND candidate.run_id = run.id AND "
    "candidate.key = run.best_key ";

constexpr size_t kOrigin = 10;  // index of from_store in kSelect

std::string TextAt(const Json& array, size_t index) {
  if (!array.is_array() || index >= array.size() || array[index].is_null()) return "";
  return array[index].is_string() ? array[index].get<std::string>() : DumpJson(array[index]);
}

// Versions, baselines and error limit from the verdict's provenance.
std::string SettingOf(const Json& provenance) {
  std::vector<std::string> parts;
  const auto add = [&](const char* name, const std::string& version) {
    if (!version.empty()) parts.push_back(fmt::format("{} {}", name, version));
  };
  const std::string target = TextAt(provenance, 3);
  add("torch", TextAt(provenance, 0));
  if (target != "cpu") {
    add("CUDA", TextAt(provenance, 1));
    add("Triton", TextAt(provenance, 2));
  } else if (const std::string threads = TextAt(provenance, 4); !threads.empty()) {
    parts.push_back(threads + (threads == "1" ? " thread" : " threads"));
  }
  const std::string precision = TextAt(provenance, 5);
  if (!precision.empty() && !StartsWith(precision, "as PyTorch")) parts.push_back(precision);
  add("Hone", TextAt(provenance, 9));
  // The usual limit is not listed. With a looser one, results are not comparable.
  if (const std::string rule = TextAt(provenance, 7); rule != DescribeRule(LimitRule())) add("limit", rule);
  if (TextAt(provenance, 8) == "true") parts.push_back("blind spots allowed");
  std::vector<std::string> rungs;
  if (provenance.is_array() && provenance.size() > 6)
    for (const Json& rung : provenance[6])
      if (GetBool(rung, "available")) rungs.push_back(GetString(rung, "name"));
  std::string setting = Join(parts, ", ");
  if (!rungs.empty()) setting += (setting.empty() ? "baselines " : "; baselines ") + Join(rungs, ", ");
  return setting;
}

Standing ReadStanding(Statement& row) {
  Standing one;
  int column = 0;
  one.run_id = row.Integer(column++);
  for (std::string* field : {&one.created, &one.task, &one.task_sha256, &one.device, &one.result,
                             &one.best_key, &one.proposer, &one.model, &one.kind, &one.kernel_class})
    *field = row.Text(column++);
  for (double* field : {&one.vs_best, &one.ci_low, &one.ci_high, &one.vs_eager})
    *field = row.Number(column++);
  if (!one.accepted()) return one;
  const Result<Json> provenance = ParseJson(row.Text(column));
  if (!provenance.ok()) return one;
  one.setting = SettingOf(*provenance);
  one.origin = TextAt(*provenance, kOrigin);
  return one;
}

Result<std::vector<Standing>> ReadAll(RunStore& store, Statement& query) {
  std::vector<Standing> all;
  int code = SQLITE_ERROR;
  while (query.ok() && (code = query.Step()) == SQLITE_ROW) all.push_back(ReadStanding(query));
  if (code != SQLITE_DONE) return SqlError(store.store().handle(), "cannot read the store");
  return all;
}

bool HasWords(const Standing& one, const std::vector<std::string>& words) {
  const std::string text = ToLower(one.task + " " + one.device);
  return std::all_of(words.begin(), words.end(),
                     [&](const std::string& word) { return Contains(text, ToLower(word)); });
}

// Keeps the run that first obtained each verdict, or the first run in the list if that run is missing.
void KeepEachVerdictOnce(std::vector<Standing>* runs) {
  std::set<std::string> seen;
  for (const Standing& one : *runs)
    if (one.origin.empty()) seen.insert(fmt::format("R{} {}", one.run_id, one.best_key));
  std::erase_if(*runs,
                [&](const Standing& one) { return !one.origin.empty() && !seen.insert(one.origin).second; });
}

}  // namespace

bool IntervalsOverlap(const Standing& a, const Standing& b) {
  return a.ci_low <= b.ci_high && b.ci_low <= a.ci_high;
}

std::vector<StandingGroup> GroupComparable(const std::vector<Standing>& runs) {
  std::map<std::vector<std::string>, StandingGroup> groups;
  for (const Standing& one : runs) {
    if (!one.accepted()) continue;
    StandingGroup& group = groups[{one.task, one.task_sha256, one.device, one.setting}];
    group.task = one.task;
    group.task_sha256 = one.task_sha256;
    group.device = one.device;
    group.setting = one.setting;
    group.runs.push_back(one);
  }
  std::vector<StandingGroup> ranked;
  for (auto& [key, group] : groups) {
    KeepEachVerdictOnce(&group.runs);
    std::stable_sort(group.runs.begin(), group.runs.end(),
                     [](const Standing& a, const Standing& b) { return a.ci_low > b.ci_low; });
    ranked.push_back(std::move(group));
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const StandingGroup& a, const StandingGroup& b) {
    return a.runs[0].ci_low > b.runs[0].ci_low;
  });
  return ranked;
}

Result<Leaderboard> RankTasks(RunStore& store, const std::string& device, const std::string& words) {
  Statement query(store.store().handle(),
                  fmt::format("{}WHERE ?1 = '' OR run.device = ?1 ORDER BY run.id", kSelect).c_str());
  query.Bind(1, device);
  HONE_ASSIGN_OR_RETURN(std::vector<Standing> all, ReadAll(store, query));
  std::vector<std::string> wanted = Split(words, ' ');
  std::erase(wanted, "");
  std::erase_if(all, [&](const Standing& one) { return !HasWords(one, wanted); });
  Leaderboard board;
  board.groups = GroupComparable(all);
  std::map<std::pair<std::string, std::string>, UnsolvedTask> unsolved;
  for (const Standing& one : all) {
    UnsolvedTask& task = unsolved[{one.task, one.device}];
    task.task = one.task;
    task.device = one.device;
    task.newest_run = one.run_id;
    ++task.runs;
    if (one.accepted())
      task.result = kAccepted;
    else if (task.result != kAccepted && task.result != kKeptPyTorch && !one.result.empty())
      task.result = one.result;
  }
  for (auto& [key, task] : unsolved)
    if (task.result != kAccepted) board.unsolved.push_back(std::move(task));
  return board;
}

Result<std::vector<Standing>> TaskHistory(RunStore& store, const std::string& task, int64_t most) {
  Statement query(store.store().handle(),
                  fmt::format("{}WHERE run.task = ? ORDER BY run.id DESC LIMIT ?", kSelect).c_str());
  query.BindAll(task, most);
  HONE_ASSIGN_OR_RETURN(std::vector<Standing> all, ReadAll(store, query));
  std::reverse(all.begin(), all.end());
  return all;
}

}  // namespace hone

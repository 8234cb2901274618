#include "report/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/diff.h"
#include "base/text.h"
#include "pipeline/rules.h"
#include "report/causes.h"
#include "report/difference.h"
#include "report/explanation_words.h"
#include "report/record_facts.h"
#include "store/run_result.h"
#include "verdict/reasons.h"

namespace hone {

namespace {

constexpr int kMostDiffLines = 200;

bool AllEqual(const std::vector<std::string>& values) {
  return std::all_of(values.begin(), values.end(), [&](const std::string& one) { return one == values[0]; });
}

// Puts differing rows first and keeps the order otherwise.
template <class Row>
void DifferingFirst(std::vector<Row>* rows) {
  std::stable_partition(rows->begin(), rows->end(), [](const Row& row) { return row.differs; });
}

// The options that the user set, without values drawn or resolved for each run.
std::string ChosenOptions(const RunRecord& run) {
  const Json options = ParsedOrNull(run.options);
  std::vector<std::string> parts;
  for (const char* name :
       {"seeds", "repairs", "analysis", "class_check", "tuning", "tune_trials", "judge_at_most"})
    parts.push_back(fmt::format("{}={}", name, DumpJson(GetMember(options, name))));
  // Shown only if they are in use.
  if (GetString(options, "search", "classic") != "classic")
    for (const char* name : {"search", "patience", "breadth"})
      parts.push_back(fmt::format("{}={}", name, DumpJson(GetMember(options, name))));
  if (GetInt(options, "replies", 1) > 1)
    parts.push_back(fmt::format("replies={}", GetInt(options, "replies")));
  return Join(parts, " ");
}

std::string CauseList(const RunStory& story) {
  std::vector<std::string> parts;
  for (const Cause& cause : FindCauses(story))
    parts.push_back(fmt::format("{} x{}", cause.id, cause.keys.size()));
  return Join(parts, ", ");
}

Speed BestSpeed(const Outcome& outcome) {
  if (outcome.speed.known()) return outcome.speed;
  return CountsInMeans(outcome.result) && outcome.status == "done" ? Speed{1, 1, 1} : Speed{};
}

std::string VerdictId(const CandidateRecord& one) {
  return one.verdict == NameOf(Decision::kRejected) ? one.reason
         : one.verdict.empty()                      ? "not_judged"
                                                    : one.verdict;
}

std::vector<ComparedCandidate> ByKey(const std::vector<RunStory>& stories) {
  std::vector<ComparedCandidate> compared;
  for (size_t side = 0; side < stories.size(); ++side)
    for (const CandidateRecord& one : stories[side].candidates) {
      if (one.phase == "zero") continue;
      auto row = std::find_if(compared.begin(), compared.end(),
                              [&](const ComparedCandidate& known) { return known.key == one.key; });
      if (row == compared.end()) {
        compared.push_back(
            {one.key, std::vector<std::string>(stories.size()), std::vector<Speed>(stories.size())});
        row = compared.end() - 1;
      }
      row->verdicts[side] = VerdictId(one);
      row->speeds[side] = SpeedOf(one);
    }
  for (ComparedCandidate& row : compared) row.differs = !AllEqual(row.verdicts);
  DifferingFirst(&compared);
  return compared;
}

std::map<std::string, int> FindingCounts(const CandidateRecord& candidate) {
  std::map<std::string, int> counts;
  for (const Json& one : ParsedOrNull(candidate.findings)) ++counts[GetString(one, "rule")];
  return counts;
}

}  // namespace

SpeedContest Contend(size_t a, const Speed& speed_a, size_t b, const Speed& speed_b) {
  SpeedContest contest{a, b, speed_a, speed_b, "untimed", a};
  if (!speed_a.known() || !speed_b.known()) return contest;
  contest.result = IntervalsApart(speed_a, speed_b) ? "real" : "not_real";
  contest.winner = speed_a.vs_best >= speed_b.vs_best ? a : b;
  return contest;
}

RunComparison CompareRuns(const std::vector<RunStory>& stories) {
  RunComparison compared;
  std::vector<Explanation> told;
  for (const RunStory& story : stories) {
    compared.names.push_back(fmt::format("R{}", story.run.id));
    told.push_back(Explain(story));
    compared.same_task = compared.same_task && story.run.task_sha256 == stories[0].run.task_sha256;
    compared.same_device = compared.same_device && story.run.device == stories[0].run.device;
  }
  auto add = [&](const char* id, auto value) {
    ComparedField field{id, {}, false};
    for (size_t i = 0; i < stories.size(); ++i) field.values.push_back(value(stories[i], told[i]));
    field.differs = !AllEqual(field.values);
    compared.fields.push_back(std::move(field));
  };
  using Story = const RunStory&;
  using Told = const Explanation&;
  add("task", [](Story story, Told) { return story.run.task; });
  add("best", [](Story, Told one) { return AnswerOf(one.outcome.best_key, one.outcome.result); });
  add("result", [](Story, Told one) { return one.outcome.result; });
  add("speed", [](Story, Told one) { return SpeedWords(BestSpeed(one.outcome)); });
  add("kind", [](Story, Told one) { return one.outcome.kind; });
  add("status", [](Story story, Told) { return story.run.status; });
  add("proposer", [](Story story, Told) { return story.run.proposer; });
  add("model", [](Story story, Told) { return story.run.model; });
  add("device", [](Story story, Told) { return story.run.device; });
  add("target", [](Story story, Told) { return story.run.target; });
  add("options", [](Story story, Told) { return ChosenOptions(story.run); });
  add("candidates", [](Story, Told one) { return fmt::format("{}", one.outcome.judged); });
  add("accepted", [](Story, Told one) { return fmt::format("{}", one.outcome.accepted); });
  add("causes", [](Story story, Told) { return CauseList(story); });
  add("tokens", [](Story story, Told) {
    return GroupedNumber(story.usage.prompt_tokens + story.usage.completion_tokens);
  });
  add("usd", [](Story story, Told) {
    return story.usage.price_known ? fmt::format("{:.4f}", story.usage.cost_usd) : std::string("?");
  });
  add("seconds", [](Story story, Told) { return fmt::format("{:.1f}", story.run.seconds); });
  DifferingFirst(&compared.fields);
  for (size_t i = 1; i < stories.size(); ++i) {
    compared.contests.push_back(Contend(0, BestSpeed(told[0].outcome), i, BestSpeed(told[i].outcome)));
    if (stories[i].run.task_sha256 != stories[0].run.task_sha256)
      compared.contests.back().result = "other_task";
  }
  compared.candidates = ByKey(stories);
  return compared;
}

CandidateComparison CompareCandidates(const RunRecord& run_a, const CandidateRecord& a,
                                      const RunRecord& run_b, const CandidateRecord& b) {
  CandidateComparison compared;
  compared.names = {fmt::format("R{}:{}", run_a.id, a.key), fmt::format("R{}:{}", run_b.id, b.key)};
  compared.same_task = run_a.task_sha256 == run_b.task_sha256;
  compared.same_device = run_a.device == run_b.device;
  for (const DifferenceFact& fact : FactsSideBySide(a, b))
    compared.fields.push_back({fact.id, {fact.best, fact.other}, fact.differs});
  DifferingFirst(&compared.fields);
  compared.contest = Contend(0, SpeedOf(a), 1, SpeedOf(b));
  if (!compared.same_task) compared.contest.result = "other_task";
  const std::map<std::string, int> counts_a = FindingCounts(a);
  const std::map<std::string, int> counts_b = FindingCounts(b);
  std::map<std::string, std::pair<int, int>> rules;
  for (const auto& [rule, count] : counts_a) rules[rule].first = count;
  for (const auto& [rule, count] : counts_b) rules[rule].second = count;
  for (const auto& [rule, counts] : rules)
    compared.findings.push_back({rule,
                                 {fmt::format("{}", counts.first), fmt::format("{}", counts.second)},
                                 counts.first != counts.second});
  DifferingFirst(&compared.findings);
  const UnifiedDiff diff =
      MakeUnifiedDiff(a.source, b.source, compared.names[0], compared.names[1], kMostDiffLines);
  compared.diff = diff.text;
  compared.diff_lines_left_out = diff.lines_left_out;
  return compared;
}

SuiteComparison CompareSuites(const std::string& name_a, const std::vector<SuiteMember>& a,
                              const std::string& name_b, const std::vector<SuiteMember>& b) {
  SuiteComparison compared;
  compared.names = {name_a, name_b};
  double log_a = 0;
  double log_b = 0;
  std::vector<bool> taken(b.size(), false);
  for (const SuiteMember& member : a) {
    ComparedTask row;
    row.task = member.run.task;
    row.status_a = member.run.status;
    row.best_a = AnswerOf(member.run.best_key, member.run.result);
    row.result_a = member.run.result;
    row.contest = Contend(0, member.best, 1, Speed{});
    for (size_t i = 0; i < b.size(); ++i) {
      if (taken[i] || b[i].run.task != member.run.task) continue;
      taken[i] = true;
      row.status_b = b[i].run.status;
      row.best_b = AnswerOf(b[i].run.best_key, b[i].run.result);
      row.result_b = b[i].run.result;
      row.contest = Contend(0, member.best, 1, b[i].best);
      if (b[i].run.task_sha256 != member.run.task_sha256) row.contest.result = "other_task";
      compared.same_device = compared.same_device && b[i].run.device == member.run.device;
      break;
    }
    compared.tasks.push_back(row);
  }
  for (size_t i = 0; i < b.size(); ++i) {
    if (taken[i]) continue;
    ComparedTask row;
    row.task = b[i].run.task;
    row.status_b = b[i].run.status;
    row.best_b = AnswerOf(b[i].run.best_key, b[i].run.result);
    row.result_b = b[i].run.result;
    row.contest = Contend(0, Speed{}, 1, b[i].best);
    compared.tasks.push_back(row);
  }
  for (const ComparedTask& row : compared.tasks) {
    if (row.status_a.empty() || row.status_b.empty()) {
      ++compared.only_one;
      continue;
    }
    const SpeedContest& contest = row.contest;
    if (contest.result == "real")
      ++(contest.winner == 0 ? compared.wins_a : compared.wins_b);
    else
      ++compared.not_told_apart;
    if (contest.result != "real" && contest.result != "not_real") continue;
    ++compared.common;
    log_a += std::log(contest.speed_a.vs_best);
    log_b += std::log(contest.speed_b.vs_best);
  }
  if (compared.common > 0) {
    compared.geomean_a = std::exp(log_a / compared.common);
    compared.geomean_b = std::exp(log_b / compared.common);
  }
  std::stable_sort(compared.tasks.begin(), compared.tasks.end(),
                   [](const ComparedTask& x, const ComparedTask& y) {
                     const bool real_x = x.contest.result == "real";
                     const bool real_y = y.contest.result == "real";
                     return real_x != real_y ? real_x : x.task < y.task;
                   });
  return compared;
}

}  // namespace hone

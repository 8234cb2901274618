#include "report/suite_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/json.h"
#include "base/plural.h"
#include "base/text.h"
#include "base/text_table.h"
#include "base/text_wrap.h"
#include "pipeline/mending.h"
#include "store/run_result.h"

namespace hone {

namespace {

std::optional<double> MeanOf(double sum_of_logs, int count) {
  if (count == 0) return std::nullopt;
  return std::exp(sum_of_logs / count);
}

// "geometric mean 2.00x the best PyTorch baseline, 3.00x eager over 2 of 3 tasks (1 failed)".
std::string MeanWords(const SuiteSummary& summary) {
  const std::string others = NotCountedWords(summary);
  if (!summary.geomean_vs_best || !summary.geomean_vs_eager)
    return "no task counts in the geometric mean" + (others.empty() ? "" : fmt::format(" ({})", others));
  return fmt::format(
      "geometric mean {:.2f}x the best PyTorch baseline, {:.2f}x eager{}", *summary.geomean_vs_best,
      *summary.geomean_vs_eager,
      summary.counted == static_cast<int>(summary.rows.size())
          ? ""
          : fmt::format(" over {} of {} tasks ({})", summary.counted, summary.rows.size(), others));
}

}  // namespace

Result<SuiteSummary> Summarise(RunStore& store, const SuiteRecord& suite) {
  SuiteSummary summary;
  summary.suite = suite;
  HONE_ASSIGN_OR_RETURN(const std::vector<RunRecord> runs, store.Runs(1'000'000, suite.id));
  double log_best = 0;
  double log_eager = 0;
  double log_best_degenerate = 0;
  double log_eager_degenerate = 0;
  for (const RunRecord& run : runs) {
    SuiteRow row;
    row.run = run;
    HONE_ASSIGN_OR_RETURN(const std::vector<CandidateRecord> candidates, store.CandidateSummaries(run.id));
    for (const CandidateRecord& one : candidates) {
      if (one.phase == "zero") continue;
      ++row.candidates;
      row.right = row.right || one.right();
      if (!run.best_key.empty() && one.key == run.best_key) {
        row.ci_low = one.ci_low;
        row.ci_high = one.ci_high;
      }
    }
    HONE_ASSIGN_OR_RETURN(row.usage, store.Usage(run.id));
    if (std::any_of(candidates.begin(), candidates.end(),
                    [](const CandidateRecord& one) { return one.phase == kMendedPhase; })) {
      HONE_ASSIGN_OR_RETURN(const std::vector<DecisionRecord> decisions, store.Decisions(run.id));
      row.mending = MendingOf(run, candidates, decisions);
      summary.mending += row.mending;
    }
    summary.failed += run.result == kRunFailed ? 1 : 0;
    summary.nothing_tried += run.result == kNothingTried ? 1 : 0;
    summary.cannot_judge += run.result == kCannotJudge ? 1 : 0;
    summary.unfinished += run.result.empty() ? 1 : 0;
    summary.counted += CountsInMeans(run.result) ? 1 : 0;
    const bool won = run.result == kAccepted;
    summary.correct += row.right ? 1 : 0;
    summary.fast_1 += won && run.vs_best > 1 ? 1 : 0;
    summary.fast_2 += won && run.vs_best > 2 ? 1 : 0;
    summary.fast_1_eager += won && run.vs_eager > 1 ? 1 : 0;
    summary.fast_2_eager += won && run.vs_eager > 2 ? 1 : 0;
    const double own_best = std::log(won ? std::max(run.vs_best, 1e-9) : 1);
    const double own_eager = std::log(won ? std::max(run.vs_eager, 1e-9) : 1);
    log_best += own_best;
    log_eager += own_eager;
    if (!run.degenerate.empty() && CountsInMeans(run.result)) {
      ++summary.degenerate;
      log_best_degenerate += own_best;
      log_eager_degenerate += own_eager;
    }
    summary.tokens += row.usage.prompt_tokens + row.usage.completion_tokens;
    summary.cost_usd += row.usage.cost_usd;
    summary.price_known = summary.price_known && row.usage.price_known;
    summary.rows.push_back(std::move(row));
  }
  const SuiteParts parts = PartsOf(suite);
  std::set<std::string> here;
  for (const SuiteRow& row : summary.rows) here.insert(row.run.task);
  summary.shards = parts.shards;
  summary.missing = FindMissing(parts, here);
  std::stable_sort(summary.rows.begin(), summary.rows.end(), [](const SuiteRow& a, const SuiteRow& b) {
    const int x = std::atoi(a.run.task.c_str());
    const int y = std::atoi(b.run.task.c_str());
    return x != y ? x < y : a.run.task < b.run.task;
  });
  const double count = std::max<double>(1, static_cast<double>(summary.rows.size()));
  for (double* share :
       {&summary.correct, &summary.fast_1, &summary.fast_2, &summary.fast_1_eager, &summary.fast_2_eager})
    *share /= count;
  summary.geomean_vs_best = MeanOf(log_best, summary.counted);
  summary.geomean_vs_eager = MeanOf(log_eager, summary.counted);
  const int others = summary.counted - summary.degenerate;
  summary.geomean_vs_best_without_degenerate = MeanOf(log_best - log_best_degenerate, others);
  summary.geomean_vs_eager_without_degenerate = MeanOf(log_eager - log_eager_degenerate, others);
  return summary;
}

std::string RowWords(const RunRecord& run) {
  return std::string(ResultWords(run.result)) + (run.degenerate.empty() ? "" : ", degenerate");
}

std::string NotCountedWords(const SuiteSummary& summary) {
  std::vector<std::string> parts;
  for (const auto& [count, words] : {std::pair(summary.failed, "failed"),
                                     {summary.nothing_tried, "with nothing to try"},
                                     {summary.cannot_judge, "that cannot be judged"},
                                     {summary.unfinished, "not finished"}})
    if (count > 0) parts.push_back(fmt::format("{} {}", count, words));
  return Join(parts, ", ");
}

std::string DegenerateWords(const SuiteSummary& summary) {
  if (summary.degenerate == 0) return "";
  const std::string head = fmt::format(
      "{}: the output does not depend on the inputs; ",
      summary.degenerate == 1 ? "1 degenerate task" : fmt::format("{} degenerate tasks", summary.degenerate));
  if (!summary.geomean_vs_best_without_degenerate || !summary.geomean_vs_eager_without_degenerate)
    return head + "no other task counts in the geometric mean";
  return fmt::format("{}without {} {:.2f}x the best PyTorch baseline, {:.2f}x eager", head,
                     summary.degenerate == 1 ? "it" : "them", *summary.geomean_vs_best_without_degenerate,
                     *summary.geomean_vs_eager_without_degenerate);
}

std::string MissingWords(const SuiteSummary& summary) {
  static constexpr size_t kMost = 12;
  const auto list = [](const std::vector<std::string>& words) {
    std::vector<std::string> first(words.begin(), words.begin() + std::min(words.size(), kMost));
    if (words.size() > kMost) first.push_back(fmt::format("{} more", words.size() - kMost));
    const std::string last = first.back();
    first.pop_back();
    return first.empty() ? last : Join(first, ", ") + " and " + last;
  };
  const MissingParts& missing = summary.missing;
  if (!missing.any()) return "";
  const std::string tasks =
      missing.tasks.size() == 1 ? "1 task" : fmt::format("{} tasks", missing.tasks.size());
  if (missing.shards.empty())
    return fmt::format("{} {} no result yet: {}", tasks, missing.tasks.size() == 1 ? "has" : "have",
                       list(missing.tasks));
  std::vector<std::string> numbers;
  for (const int shard : missing.shards) numbers.push_back(std::to_string(shard));
  return fmt::format("{} {} of {} {} missing: {} {} no result here", numbers.size() == 1 ? "shard" : "shards",
                     list(numbers), summary.shards, numbers.size() == 1 ? "is" : "are", tasks,
                     missing.tasks.size() == 1 ? "has" : "have");
}

std::string SuiteText(const SuiteSummary& summary, const Style& style) {
  TextTable table;
  table.columns = {{"task", 0, 16, false},        {"result", 0, 0, false},  {"vs best", 0, 0, true},
                   {"95% interval", 3, 0, false}, {"vs eager", 2, 0, true}, {"correct", 4, 0, false},
                   {"best", 1, 14, false},        {"tokens", 6, 0, true},   {"USD", 7, 0, true},
                   {"time", 5, 0, true}};
  for (const SuiteRow& row : summary.rows) {
    const bool won = row.run.result == kAccepted;
    const Tone tone = won                                                            ? Tone::kGood
                      : row.run.result == kRunFailed || row.run.result == kNoneRight ? Tone::kBad
                                                                                     : Tone::kNeutral;
    table.rows.push_back(
        {row.run.task, TableCell(RowWords(row.run), tone), won ? fmt::format("{:.2f}x", row.run.vs_best) : "",
         won && row.ci_high > 0 ? fmt::format("{:.2f} to {:.2f}", row.ci_low, row.ci_high) : "",
         won ? fmt::format("{:.2f}x", row.run.vs_eager) : "", row.right ? "yes" : "no",
         won ? row.run.best_key : "",
         fmt::format("{}", row.usage.prompt_tokens + row.usage.completion_tokens),
         row.usage.price_known ? fmt::format("{:.4f}", row.usage.cost_usd) : "?",
         row.run.seconds > 0 ? HumanSeconds(row.run.seconds) : ""});
  }
  std::string text = PrintTable(table, style);
  std::vector<std::string> sentences = {
      fmt::format("{}: correct {:.0f}%, fast_1 {:.0f}%, fast_2 {:.0f}% (against the best PyTorch "
                  "baseline; against eager {:.0f}% and {:.0f}%)",
                  CountAndNoun(static_cast<int64_t>(summary.rows.size()), "task"), 100 * summary.correct,
                  100 * summary.fast_1, 100 * summary.fast_2, 100 * summary.fast_1_eager,
                  100 * summary.fast_2_eager),
      fmt::format("{}; {} tokens, {}", MeanWords(summary), summary.tokens,
                  summary.price_known ? fmt::format("${:.4f}", summary.cost_usd) : "price not known")};
  if (summary.mending.any()) sentences.push_back("mechanical repair: " + MendingWords(summary.mending));
  if (summary.degenerate > 0) sentences.push_back(DegenerateWords(summary));
  if (summary.missing.any()) sentences.push_back(MissingWords(summary));
  for (const std::string& sentence : sentences) text += WrapIndented(sentence, 0, style.width()) + "\n";
  return text;
}

std::string SuiteCsv(const SuiteSummary& summary) {
  std::string csv =
      "task,status,vs_best,vs_eager,right,candidates,tokens,cost_usd,best,seconds,run,result,degenerate\n";
  for (const SuiteRow& row : summary.rows) {
    const bool won = row.run.result == kAccepted;
    const bool counts = CountsInMeans(row.run.result);
    const auto ratio = [&](double value) {
      return counts ? fmt::format("{:.6g}", won ? value : 1.0) : std::string();
    };
    csv += fmt::format("{},{},{},{},{},{},{},{:.6f},{},{:.1f},{},{},{}\n", row.run.task, row.run.status,
                       ratio(row.run.vs_best), ratio(row.run.vs_eager), row.right, row.candidates,
                       row.usage.prompt_tokens + row.usage.completion_tokens, row.usage.cost_usd,
                       won      ? row.run.best_key
                       : counts ? "pytorch"
                                : "",
                       row.run.seconds, row.run.name, row.run.result, row.run.degenerate.empty() ? 0 : 1);
  }
  return csv;
}

OrderedJson MeanJson(const std::optional<double>& mean) {
  return mean ? OrderedJson(*mean) : OrderedJson();
}

OrderedJson SuiteToJson(const SuiteSummary& summary) {
  OrderedJson json = {
      {"suite", summary.suite.name},
      {"tasks", summary.rows.size()},
      {"counted", summary.counted},
      {"failed", summary.failed},
      {"nothing_tried", summary.nothing_tried},
      {"cannot_judge", summary.cannot_judge},
      {"unfinished", summary.unfinished},
      {"correct", summary.correct},
      {"fast_1", summary.fast_1},
      {"fast_2", summary.fast_2},
      {"fast_1_eager", summary.fast_1_eager},
      {"fast_2_eager", summary.fast_2_eager},
      {"geomean_vs_best", MeanJson(summary.geomean_vs_best)},
      {"geomean_vs_eager", MeanJson(summary.geomean_vs_eager)},
      {"degenerate", summary.degenerate},
      {"geomean_vs_best_without_degenerate", MeanJson(summary.geomean_vs_best_without_degenerate)},
      {"geomean_vs_eager_without_degenerate", MeanJson(summary.geomean_vs_eager_without_degenerate)},
      {"tokens", summary.tokens},
      {"cost_usd", summary.cost_usd},
      {"price_known", summary.price_known},
      {"mending", ToJson(summary.mending)}};
  if (summary.shards > 0) json["shards"] = summary.shards;
  if (summary.shards > 0) json["missing_shards"] = summary.missing.shards;
  json["missing"] = summary.missing.tasks;
  json["rows"] = OrderedJson::array();
  for (const SuiteRow& row : summary.rows) {
    const bool won = row.run.result == kAccepted;
    const bool counts = CountsInMeans(row.run.result);
    json["rows"].push_back(
        {{"task", row.run.task},
         {"status", row.run.status},
         {"result", row.run.result},
         {"vs_best", counts ? OrderedJson(won ? row.run.vs_best : 1.0) : OrderedJson()},
         {"vs_eager", counts ? OrderedJson(won ? row.run.vs_eager : 1.0) : OrderedJson()},
         {"right", row.right},
         {"candidates", row.candidates},
         {"tokens", row.usage.prompt_tokens + row.usage.completion_tokens},
         {"cost_usd", row.usage.cost_usd},
         {"mending", ToJson(row.mending)},
         {"best", counts ? OrderedJson(won ? row.run.best_key : "pytorch") : OrderedJson()},
         {"outcome", row.run.outcome},
         {"degenerate", row.run.degenerate.empty() ? OrderedJson() : OrderedJson(row.run.degenerate)},
         {"seconds", row.run.seconds},
         {"run", row.run.name}});
  }
  return json;
}

}  // namespace hone

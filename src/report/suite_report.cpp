#include "report/suite_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace hone {

Result<SuiteSummary> Summarise(RunStore& store, const SuiteRecord& suite) {
  SuiteSummary summary;
  summary.suite = suite;
  HONE_ASSIGN_OR_RETURN(const std::vector<RunRecord> runs, store.Runs(1'000'000, suite.id));
  double log_best = 0;
  double log_eager = 0;
  for (const RunRecord& run : runs) {
    SuiteRow row;
    row.run = run;
    HONE_ASSIGN_OR_RETURN(const std::vector<CandidateRecord> candidates, store.CandidateSummaries(run.id));
    for (const CandidateRecord& one : candidates) {
      if (one.phase == "zero") continue;
      ++row.candidates;
      row.right =
          row.right || one.verdict == "accepted" || one.verdict == "no_difference" || one.reason == "slower";
    }
    HONE_ASSIGN_OR_RETURN(row.usage, store.Usage(run.id));
    const bool won = !run.best_key.empty();
    summary.correct += row.right ? 1 : 0;
    summary.fast_1 += won && run.vs_best > 1 ? 1 : 0;
    summary.fast_2 += won && run.vs_best > 2 ? 1 : 0;
    summary.fast_1_eager += won && run.vs_eager > 1 ? 1 : 0;
    summary.fast_2_eager += won && run.vs_eager > 2 ? 1 : 0;
    log_best += std::log(won ? std::max(run.vs_best, 1e-9) : 1);
    log_eager += std::log(won ? std::max(run.vs_eager, 1e-9) : 1);
    summary.tokens += row.usage.prompt_tokens + row.usage.completion_tokens;
    summary.cost_usd += row.usage.cost_usd;
    summary.price_known = summary.price_known && row.usage.price_known;
    summary.rows.push_back(std::move(row));
  }
  std::stable_sort(summary.rows.begin(), summary.rows.end(), [](const SuiteRow& a, const SuiteRow& b) {
    const int x = std::atoi(a.run.task.c_str());
    const int y = std::atoi(b.run.task.c_str());
    return x != y ? x < y : a.run.task < b.run.task;
  });
  const double count = std::max<double>(1, static_cast<double>(summary.rows.size()));
  for (double* share :
       {&summary.correct, &summary.fast_1, &summary.fast_2, &summary.fast_1_eager, &summary.fast_2_eager})
    *share /= count;
  summary.geomean_vs_best = std::exp(log_best / count);
  summary.geomean_vs_eager = std::exp(log_eager / count);
  return summary;
}

std::string SuiteText(const SuiteSummary& summary, const Style& style) {
  std::string text =
      style.Bold(fmt::format("{:<28} {:<8} {:>8} {:>9} {:>6} {:>9} {:>9}  {}\n", "task", "status", "vs_best",
                             "vs_eager", "right", "tokens", "usd", "best"));
  for (const SuiteRow& row : summary.rows) {
    const bool won = !row.run.best_key.empty();
    text += fmt::format("{:<28} {:<8} {:>8} {:>9} {:>6} {:>9} {:>9}  {}\n", row.run.task, row.run.status,
                        won ? fmt::format("{:.2f}x", row.run.vs_best) : "-",
                        won ? fmt::format("{:.2f}x", row.run.vs_eager) : "-", row.right ? "yes" : "no",
                        row.usage.prompt_tokens + row.usage.completion_tokens,
                        row.usage.price_known ? fmt::format("{:.4f}", row.usage.cost_usd) : "?",
                        won ? SafeForTerminal(row.run.best_key) : "PyTorch");
  }
  text += fmt::format(
      "{} tasks: correct {:.0f}%, fast_1 {:.0f}%, fast_2 {:.0f}% (against the best of PyTorch; against eager "
      "{:.0f}% and {:.0f}%)\n",
      summary.rows.size(), 100 * summary.correct, 100 * summary.fast_1, 100 * summary.fast_2,
      100 * summary.fast_1_eager, 100 * summary.fast_2_eager);
  text += fmt::format("geometric mean {:.2f}x the best of PyTorch, {:.2f}x eager; {} tokens, {}\n",
                      summary.geomean_vs_best, summary.geomean_vs_eager, summary.tokens,
                      summary.price_known ? fmt::format("${:.4f}", summary.cost_usd) : "price not known");
  return text;
}

std::string SuiteCsv(const SuiteSummary& summary) {
  std::string csv = "task,status,vs_best,vs_eager,right,candidates,tokens,cost_usd,best,seconds,run\n";
  for (const SuiteRow& row : summary.rows)
    csv += fmt::format(
        "{},{},{:.6g},{:.6g},{},{},{},{:.6f},{},{:.1f},{}\n", row.run.task, row.run.status,
        row.run.best_key.empty() ? 1.0 : row.run.vs_best, row.run.best_key.empty() ? 1.0 : row.run.vs_eager,
        row.right, row.candidates, row.usage.prompt_tokens + row.usage.completion_tokens, row.usage.cost_usd,
        row.run.best_key.empty() ? "pytorch" : row.run.best_key, row.run.seconds, row.run.name);
  return csv;
}

OrderedJson SuiteToJson(const SuiteSummary& summary) {
  OrderedJson json = {{"suite", summary.suite.name},
                      {"tasks", summary.rows.size()},
                      {"correct", summary.correct},
                      {"fast_1", summary.fast_1},
                      {"fast_2", summary.fast_2},
                      {"fast_1_eager", summary.fast_1_eager},
                      {"fast_2_eager", summary.fast_2_eager},
                      {"geomean_vs_best", summary.geomean_vs_best},
                      {"geomean_vs_eager", summary.geomean_vs_eager},
                      {"tokens", summary.tokens},
                      {"cost_usd", summary.cost_usd},
                      {"price_known", summary.price_known}};
  json["rows"] = OrderedJson::array();
  for (const SuiteRow& row : summary.rows)
    json["rows"].push_back({{"task", row.run.task},
                            {"status", row.run.status},
                            {"vs_best", row.run.best_key.empty() ? 1.0 : row.run.vs_best},
                            {"vs_eager", row.run.best_key.empty() ? 1.0 : row.run.vs_eager},
                            {"right", row.right},
                            {"candidates", row.candidates},
                            {"tokens", row.usage.prompt_tokens + row.usage.completion_tokens},
                            {"cost_usd", row.usage.cost_usd},
                            {"best", row.run.best_key.empty() ? "pytorch" : row.run.best_key},
                            {"outcome", row.run.outcome},
                            {"seconds", row.run.seconds},
                            {"run", row.run.name}});
  return json;
}

}  // namespace hone

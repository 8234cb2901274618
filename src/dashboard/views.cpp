#include "dashboard/views.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "pipeline/run_options.h"
#include "report/html_page.h"
#include "report/usage_words.h"
#include "store/run_result.h"

namespace hone {

namespace {

constexpr int kMostDepth = 6;

int DepthOf(const CandidateRecord& candidate, const std::vector<CandidateRecord>& all) {
  int depth = 0;
  std::string parent = candidate.parent_key;
  while (!parent.empty() && depth < kMostDepth) {
    ++depth;
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const CandidateRecord& one) { return one.key == parent; });
    parent = found == all.end() ? "" : found->parent_key;
  }
  return depth;
}

std::string FirstLine(const std::string& text, size_t most) {
  const std::string line = ValidUtf8(text.substr(0, std::min(text.find('\n'), most)));
  return line.size() < text.size() ? line + " …" : line;
}

Json Meter(const char* name, double spent, double limit, const std::string& words) {
  return {{"name", name},
          {"share", fmt::format("{:.3f}", std::clamp(spent / limit, 0.0, 1.0))},
          {"words", words}};
}

}  // namespace

std::string RunLink(int64_t id) {
  return fmt::format("/runs/R{}", id);
}

std::string CandidateLink(int64_t run_id, const std::string& key) {
  return fmt::format("/runs/R{}/candidates/{}", run_id, PercentEncode(key));
}

std::string TaskLink(const std::string& task) {
  return "/tasks/" + PercentEncode(task);
}

std::string SpeedText(double ratio) {
  return ratio > 0 ? fmt::format("{:.2f}x", ratio) : "-";
}

std::string IntervalText(double low, double high) {
  return high > 0 ? fmt::format("[{:.2f}, {:.2f}]", low, high) : "";
}

std::string ToneOfVerdict(const std::string& verdict) {
  if (verdict == "accepted") return "ok";
  if (verdict == "rejected") return "bad";
  if (verdict == "no_difference" || verdict == "inconclusive" || verdict == "cannot_judge") return "same";
  return verdict.empty() ? "live" : "idle";
}

std::string ToneOfStatus(const std::string& status) {
  if (status == "running") return "live";
  if (status == "done") return "idle";  // the colour of the result is separate
  return status == "failed" || status == "killed" ? "bad" : "same";
}

std::string ToneOfResult(const std::string& result) {
  return result.empty() ? "idle" : ResultTone(result);
}

std::string StatusOf(const RunRecord& run, bool abandoned) {
  return abandoned ? "killed" : run.status;
}

std::string ShortTime(const std::string& utc) {
  return utc.size() < 16 ? utc : utc.substr(0, 10) + " " + utc.substr(11, 5);
}

Json RunValues(const RunRecord& run, bool abandoned) {
  const std::string status = StatusOf(run, abandoned);
  const bool won = !run.best_key.empty();
  return {{"id", fmt::format("R{}", run.id)},
          {"link", RunLink(run.id)},
          {"name", run.name},
          {"task", run.task},
          {"task_link", TaskLink(run.task)},
          {"status", status},
          {"tone", ToneOfStatus(status)},
          {"live", status == "running"},
          {"created", ShortTime(run.created)},
          {"created_utc", run.created},
          {"finished", ShortTime(run.finished)},
          {"proposer", run.proposer.substr(0, run.proposer.find(':'))},
          {"proposer_full", run.proposer},
          {"model", run.model},
          {"target", run.target},
          {"device", run.device},
          {"folder", run.folder},
          {"outcome", run.outcome},
          {"result", run.result},
          {"degenerate", run.degenerate},
          {"result_words", ResultWords(run.result)},
          {"result_tone", ToneOfResult(run.result)},
          {"won", won},
          {"best_key", run.best_key},
          {"best_link", won ? CandidateLink(run.id, run.best_key) : ""},
          {"speed", won ? SpeedText(run.vs_best) : "-"},
          {"eager", won ? SpeedText(run.vs_eager) : "-"},
          {"seconds", run.seconds > 0 ? HumanSeconds(run.seconds) : "-"}};
}

Json CandidateValues(const CandidateRecord& one, const std::vector<CandidateRecord>& all,
                     const std::string& best_key) {
  const bool timed = one.vs_best > 0 && one.verdict != "baseline";
  const bool explained = one.verdict == "rejected" || one.unknown() || one.verdict == "inconclusive";
  return {{"key", one.key},
          {"link", CandidateLink(one.run_id, one.key)},
          {"parent", one.parent_key},
          {"parent_link", one.parent_key.empty() ? "" : CandidateLink(one.run_id, one.parent_key)},
          {"depth", DepthOf(one, all)},
          {"phase", one.phase},
          {"title", one.title},
          {"judged", one.judged()},
          {"verdict", one.judged() ? ReplaceAll(one.verdict, "_", " ") : "not judged yet"},
          {"tone", ToneOfVerdict(one.verdict)},
          {"reason", explained ? one.reason : ""},
          {"detail", explained ? FirstLine(one.detail, 160) : ""},
          {"kind", one.kind},
          {"kernel_class", one.kernel_class == "none" ? "" : one.kernel_class},
          {"speed", timed ? SpeedText(one.vs_best) : "-"},
          {"interval", timed ? IntervalText(one.ci_low, one.ci_high) : ""},
          {"eager", timed ? SpeedText(one.vs_eager) : "-"},
          {"us", one.candidate_us > 0 ? HumanSeconds(one.candidate_us * 1e-6) : ""},
          {"error", one.error_limit > 0 ? HumanNumber(one.error) : ""},
          {"limit", one.error_limit > 0 ? HumanNumber(one.error_limit) : ""},
          {"seconds", one.seconds > 0 ? HumanSeconds(one.seconds) : ""},
          {"best", !best_key.empty() && one.key == best_key}};
}

Json TagValues(const std::vector<std::string>& tags) {
  Json values = Json::array();
  for (const std::string& tag : tags)
    values.push_back({{"name", tag}, {"link", "/runs?" + FormText({{"tag", tag}})}});
  return values;
}

Json BudgetValues(const LiveRun& live) {
  const Budget budget = RunOptionsFromJson(JsonOrNull(live.options)).budget;
  Json meters = Json::array();
  const double tokens = static_cast<double>(live.usage.prompt_tokens + live.usage.completion_tokens);
  if (budget.tokens > 0)
    meters.push_back(Meter("tokens", tokens, static_cast<double>(budget.tokens),
                           fmt::format("{:.0f} of {}", tokens, budget.tokens)));
  if (budget.usd > 0)
    meters.push_back(Meter("money", live.usage.cost_usd, budget.usd,
                           fmt::format("${:.4f} of ${:.2f}", live.usage.cost_usd, budget.usd)));
  if (budget.calls > 0)
    meters.push_back(Meter("calls", static_cast<double>(live.usage.calls), budget.calls,
                           fmt::format("{} of {}", live.usage.calls, budget.calls)));
  if (budget.minutes > 0)
    meters.push_back(
        Meter("time", live.run.seconds, 60 * budget.minutes,
              fmt::format("{} of {}", HumanSeconds(live.run.seconds), HumanSeconds(60 * budget.minutes))));
  if (budget.evaluations > 0) {
    const auto judged =
        std::count_if(live.candidates.begin(), live.candidates.end(),
                      [](const CandidateRecord& one) { return one.judged() && one.verdict != "baseline"; });
    meters.push_back(Meter("verdicts", static_cast<double>(judged), budget.evaluations,
                           fmt::format("{} of {}", judged, budget.evaluations)));
  }
  return meters;
}

Json UsageValues(const UsageTotals& usage) {
  return {{"calls", usage.calls},
          {"tokens", fmt::format("{} in, {} out{}", usage.prompt_tokens, usage.completion_tokens,
                                 usage.estimated ? " (partly estimated)" : "")},
          {"cost", usage.price_known ? fmt::format("${:.4f}", usage.cost_usd) : "price not known"},
          {"parts", PartsOf(usage)}};
}

Json PairsOf(const std::string& text) {
  Json pairs = Json::array();
  for (const std::string& line : Lines(text)) {
    const std::string_view trimmed = Trim(line);
    const size_t gap = trimmed.find("  ");
    if (gap == std::string_view::npos) continue;
    pairs.push_back(
        {{"name", std::string(trimmed.substr(0, gap))}, {"value", std::string(Trim(trimmed.substr(gap)))}});
  }
  return pairs;
}

Json JsonOrNull(const std::string& text) {
  Result<Json> json = ParseJson(text);
  return json.ok() ? std::move(*json) : Json();
}

}  // namespace hone

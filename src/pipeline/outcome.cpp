#include "pipeline/outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/text.h"
#include "evaluation/task_folder_blame.h"
#include "pipeline/rules.h"
#include "store/run_result.h"
#include "verdict/reasons.h"

namespace hone {

namespace {

constexpr size_t kLongestQuote = 200;

// "3 wrong-output, 1 crashed", most frequent first.
std::string ReasonCounts(const std::vector<CandidateRecord>& candidates) {
  std::map<std::string, int> counts;
  for (const CandidateRecord& one : candidates)
    if (one.phase != "zero" && one.judged()) ++counts[one.reason];
  std::vector<std::pair<std::string, int>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> parts;
  for (const auto& [reason, count] : order) parts.push_back(fmt::format("{} {}", count, reason));
  return Join(parts, ", ");
}

// The expert's reason about the whole task, else that of its first recipe.
std::string WhyDeclined(const std::vector<DecisionRecord>& decisions) {
  constexpr char kMark[] = ": not proposed: ";
  std::string first;
  int declined = 0;
  for (const DecisionRecord& one : decisions) {
    const size_t at = one.text.find(kMark);
    if (!StartsWith(one.key, "declined:") || at == std::string::npos) continue;
    const std::string why = one.text.substr(at + sizeof kMark - 1);
    if (one.key == "declined:expert") return why;
    if (++declined == 1) first = fmt::format("{}: {}", one.text.substr(0, at), why);
  }
  if (declined == 0) return "no candidate was proposed";
  return fmt::format("no recipe suits this task; {}{}", first,
                     declined > 1 ? fmt::format(" ({} more declined)", declined - 1) : "");
}

// True for a run that ended before it judged its winner again.
bool IsUnconfirmed(const RunRecord& run, const std::string& best,
                   const std::vector<DecisionRecord>& decisions) {
  return (run.status == "stopped" || run.status == "failed") &&
         std::none_of(decisions.begin(), decisions.end(),
                      [&](const DecisionRecord& one) { return one.key == "confirm:" + best; });
}

}  // namespace

TimedCounts CountTimed(const std::vector<CandidateRecord>& candidates) {
  TimedCounts counts;
  for (const CandidateRecord& one : candidates)
    if (one.phase != "zero" && one.right())
      ++(one.verdict == NameOf(Decision::kInconclusive) ? counts.too_busy : counts.timed);
  return counts;
}

std::string WhyNothingTried(const std::vector<CandidateRecord>& candidates,
                            const std::vector<DecisionRecord>& decisions) {
  size_t proposed = 0;
  for (const CandidateRecord& one : candidates) {
    if (one.phase == "zero") continue;
    ++proposed;
    if (one.judged())
      return fmt::format(
          "the task reads a file beside it, and a candidate is one file that is judged alone ({})",
          SafeForTerminal(BlamedLine(one.detail).substr(0, kLongestQuote)));
  }
  if (proposed > 0) return fmt::format("{} proposed, none of them judged", proposed);
  return WhyDeclined(decisions);
}

std::string ResultSentence(const RunRecord& run, const std::vector<CandidateRecord>& candidates,
                           const std::vector<DecisionRecord>& decisions) {
  if (run.result == kAccepted) {
    const std::optional<CandidateRecord> best =
        Fastest(candidates, [](const CandidateRecord& one) { return one.accepted(); });
    return fmt::format(
        "{} is {:.2f}x as fast as the best PyTorch baseline ({:.2f}x eager){}", best->key, best->vs_best,
        best->vs_eager,
        IsUnconfirmed(run, best->key, decisions) ? "; it is not confirmed by a second judgement" : "");
  }
  if (run.result == kKeptPyTorch) {
    const Result<Json> context = ParseJson(run.card);
    const std::string best = BestOfPyTorch(candidates, context.ok() ? GetString(*context, "best_rung") : "");
    const TimedCounts counts = CountTimed(candidates);
    if (counts.timed == 0)
      return fmt::format(
          "keep PyTorch: the machine was too busy to tell whether a correct candidate is faster than {}",
          best);
    return fmt::format("keep PyTorch: no correct candidate was faster than {}{}", best,
                       counts.too_busy == 0 ? ""
                                            : fmt::format(" (the machine was too busy to time {} of {})",
                                                          counts.too_busy, counts.timed + counts.too_busy));
  }
  if (run.result == kNoneRight) return "no candidate was right: " + ReasonCounts(candidates);
  if (run.result == kCannotJudge) {
    for (const CandidateRecord& one : candidates)
      if (one.unknown()) return "the task cannot tell right from wrong: " + SafeForTerminal(one.detail);
  }
  if (run.result == kNothingTried) return "nothing could be tried: " + WhyNothingTried(candidates, decisions);
  return run.result == kRunFailed ? "nothing is accepted" : "";
}

}  // namespace hone

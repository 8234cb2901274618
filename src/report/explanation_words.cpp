#include "report/explanation_words.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/record_facts.h"
#include "store/run_result.h"

namespace hone {

namespace {

std::string PercentNumber(double share) {
  return fmt::format("{:.0f}", 100 * share);
}

std::string AnswerWords(const std::string& answer, ReportLanguage language) {
  return answer.empty()       ? Words(language, "compare.no_answer")
         : answer == kPyTorch ? Words(language, "compare.pytorch")
                              : answer;
}

}  // namespace

std::string BestWithout(const Counterfactual& one, const Explanation& told) {
  const Outcome& outcome = told.outcome;
  if (!one.best_key.empty()) return one.best_key;
  return one.effect == "same_best" || one.effect == "never_used" ? AnswerOf("", outcome.result) : kPyTorch;
}

std::string Times(double factor) {
  return fmt::format("{:.2f}x", factor);
}

std::string SpeedWords(const Speed& speed) {
  if (!speed.known()) return "";
  return fmt::format("{:.2f}x [{:.2f}, {:.2f}]", speed.vs_best, speed.ci_low, speed.ci_high);
}

std::string ReasonWords(const std::string& reason, ReportLanguage language) {
  const std::string id = "reason." + reason;
  return language == ReportLanguage::kEnglish || !HasMessage(id) ? reason : Words(language, id);
}

std::string VerdictWords(const std::string& verdict, const std::string& reason, ReportLanguage language) {
  const std::string id = "verdict." + verdict;
  return HasMessage(id) ? Words(language, id, {ReasonWords(reason, language)}) : verdict;
}

std::string PhaseWords(const std::string& phase, ReportLanguage language) {
  const std::string id = "phase." + phase;
  return HasMessage(id) ? Words(language, id) : phase;
}

std::string OutcomeSentence(const Explanation& told, ReportLanguage language) {
  const Outcome& outcome = told.outcome;
  // Some messages about `count` candidates have a singular form.
  const auto say = [&](const std::string& id, int count, const std::vector<std::string>& values) {
    const std::string one = "outcome." + id + ".one";
    return Words(language, count == 1 && HasMessage(one) ? one : "outcome." + id, values);
  };
  std::string text =
      outcome.id == "won"
          ? say("won", outcome.judged,
                {outcome.best_key, fmt::format("{:.2f}", outcome.speed.vs_best), outcome.best_baseline,
                 fmt::format("{:.2f}", outcome.speed.ci_low), fmt::format("{:.2f}", outcome.speed.ci_high),
                 fmt::format("{:.2f}", outcome.vs_eager), fmt::format("{}", outcome.accepted),
                 fmt::format("{}", outcome.judged)})
      : outcome.id == "nothing_tried" ? Words(language, "outcome.nothing_tried", {outcome.why})
      : outcome.id == "kept_pytorch" && outcome.timed == 0
          ? say("too_busy", outcome.too_busy, {outcome.best_baseline, fmt::format("{}", outcome.too_busy)})
      : outcome.id == "kept_pytorch" || outcome.id == "nothing_yet" || outcome.id == "none_right" ||
              outcome.id == "cannot_judge"
          ? say(outcome.id, outcome.judged, {outcome.best_baseline, fmt::format("{}", outcome.judged)})
          : Words(language, "outcome." + outcome.id,
                  {fmt::format("{}", outcome.candidates), fmt::format("{}", told.usage.calls)});
  if (outcome.status != "done")
    text += (language == ReportLanguage::kChinese ? "" : " ") +
            Words(language, "status." + outcome.status, {WhyItEnded(told.run)});
  return text;
}

std::string CauseSentence(const Cause& cause, ReportLanguage language) {
  const std::string count = fmt::format("{}", cause.keys.size());
  const std::string total = fmt::format("{}", cause.total);
  auto say = [&](const std::string& id, const std::string& a = "", const std::string& b = "",
                 const std::string& c = "") {
    return Words(language, "cause." + id, {count, total, a, b, c});
  };
  if (cause.id == "launch_per_step")
    return cause.launches > 0
               ? say(cause.id, GroupedNumber(cause.launches), GroupedNumber(cause.least_launches))
               : say("launch_per_step.uncounted");
  if (cause.id == "many_launches")
    return say(cause.operators ? "many_launches.operators" : "many_launches.kernels",
               GroupedNumber(cause.launches), GroupedNumber(cause.least_launches));
  if (cause.id == "near_floor") return say(cause.id, PercentNumber(cause.floor_share));
  if (cause.id == "slower" && cause.floor_share > 0)
    return say("slower.floor", fmt::format("{:.2f}", cause.best_vs), PercentNumber(cause.floor_share));
  if (cause.id == "slower" || cause.id == "loop_on_host")
    return say(cause.id, fmt::format("{:.2f}", cause.best_vs));
  if (cause.id == "no_difference" || cause.id == "no_code") return say(cause.id);
  if (cause.id == "left_out" || cause.id == "no_answer") return say(cause.id, cause.example, cause.reason);
  const std::string reason_id = "reason." + cause.reason;
  const std::string reason =
      HasMessage(reason_id) ? Words(language, reason_id) : Words(language, "reason.other", {cause.reason});
  if (cause.reason == "wrong-output" && cause.error > cause.error_limit && cause.error_limit > 0)
    return say("error", reason, HumanNumber(cause.error), HumanNumber(cause.error_limit));
  return say("other", reason, cause.example);
}

std::string FindingSentence(const CauseFinding& finding, ReportLanguage language) {
  return Words(language, "cause.finding",
               {fmt::format("{}", finding.candidates), finding.message, finding.rule,
                fmt::format("{}", finding.line), finding.key});
}

std::string DifferenceSentence(const Difference& difference, ReportLanguage language) {
  if (difference.relation == "parent")
    return Words(language, "difference.parent",
                 {difference.best_key, Times(difference.best.vs_best), difference.other_key,
                  ReasonWords(difference.other_reason, language)});
  const std::string apart = Words(language, difference.real ? "difference.real" : "difference.not_real");
  return Words(language, "difference." + difference.relation,
               {difference.best_key, SpeedWords(difference.best), difference.other_key,
                SpeedWords(difference.other)}) +
         (language == ReportLanguage::kChinese ? "" : " ") + apart;
}

std::string CounterfactualSentence(const Counterfactual& one, const Explanation& told,
                                   ReportLanguage language) {
  const std::string part = Words(language, "part." + one.part);
  const std::string best = AnswerWords(BestWithout(one, told), language);
  if (one.effect == "not_part") return Words(language, "effect.not_part", {part, told.run.proposer});
  if (one.effect == "same_best")
    return Words(language, "effect.same_best",
                 {part, best, fmt::format("{}", one.lost.size()), fmt::format("{}", one.calls_saved),
                  GroupedNumber(one.tokens_saved), HumanSeconds(one.seconds_saved)});
  if (one.effect == "other_best")
    return Words(language, "effect.other_best",
                 {part, best, Times(one.speed.vs_best),
                  AnswerWords(AnswerOf(told.outcome.best_key, told.outcome.result), language),
                  Times(told.outcome.best_key.empty() ? 1 : told.outcome.speed.vs_best)});
  if (one.effect == "at_least") {
    std::vector<std::string> why;
    for (const auto& [key, reason] : one.unknown) why.push_back(Words(language, "unknown." + reason, {key}));
    return Words(language, "effect.at_least",
                 {part, Join(why, language == ReportLanguage::kChinese ? "，" : ", and "), best,
                  Times(one.speed.vs_best)});
  }
  const bool by_expert = one.effect == "not_recomputable" && StartsWith(told.run.proposer, "expert+");
  return Words(language, by_expert ? "effect.not_on_record" : "effect." + one.effect, {part});
}

std::string NextSentence(const NextTry& next, ReportLanguage language) {
  return Words(language, "next." + next.id, next.values);
}

std::string FactValue(const std::string& id, const std::string& value, ReportLanguage language) {
  if (value.empty()) return "-";
  if (id == "kind" && HasMessage("kind." + value)) return Words(language, "kind." + value);
  if (id == "reason") return ReasonWords(value, language);
  if (id == "verdict" && value == "rejected") return Words(language, "fact.rejected");
  if (id == "verdict") return VerdictWords(value, "", language);
  return value;
}

}  // namespace hone

// An explanation for programs: ids and numbers, together with the sentences.
#include "base/json.h"
#include "report/explanation_words.h"
#include "store/record_io.h"
#include "store/run_result.h"

namespace hone {

OrderedJson SpeedJson(const Speed& speed) {
  if (!speed.known()) return nullptr;
  return {{"vs_best", speed.vs_best}, {"ci95", {speed.ci_low, speed.ci_high}}};
}

namespace {

OrderedJson KeyOrNull(const std::string& key) {
  return key.empty() ? OrderedJson() : OrderedJson(key);
}

OrderedJson OutcomeJson(const Explanation& told, ReportLanguage language) {
  const Outcome& one = told.outcome;
  return {{"id", one.id},
          {"sentence", OutcomeSentence(told, language)},
          {"status", one.status},
          {"result", one.result},
          {"why", one.why},
          {"best", KeyOrNull(AnswerOf(one.best_key, one.result))},
          {"speedup", SpeedJson(one.speed)},
          {"vs_eager", one.vs_eager},
          {"best_baseline", one.best_baseline},
          {"kind", one.kind},
          {"candidate_us", one.candidate_us},
          {"floor_us", one.floor_us},
          {"candidates", one.candidates},
          {"judged", one.judged},
          {"accepted", one.accepted},
          {"too_busy", one.too_busy},
          {"recorded", one.recorded}};
}

OrderedJson RowJson(const TimelineRow& row) {
  return {{"phase", row.phase},
          {"candidate", row.key},
          {"parent", row.parent},
          {"verdict", row.verdict},
          {"reason", row.reason},
          {"note", row.note},
          {"speedup", SpeedJson(row.speed)},
          {"error", row.error},
          {"limit", row.error_limit},
          {"tokens", row.tokens},
          {"ask_seconds", row.ask_seconds},
          {"judge_seconds", row.judge_seconds},
          {"best", row.best}};
}

OrderedJson CauseJson(const Cause& cause, ReportLanguage language) {
  OrderedJson json = {{"id", cause.id},         {"sentence", CauseSentence(cause, language)},
                      {"reason", cause.reason}, {"candidates", cause.keys},
                      {"of", cause.total},      {"example", cause.example}};
  if (cause.launches >= 0)
    json["launches"] = {{"candidate", cause.launches},
                        {"enough", cause.least_launches},
                        {"unit", cause.operators ? "operators" : "kernels"}};
  if (cause.error_limit > 0) json["error"] = {{"worst", cause.error}, {"limit", cause.error_limit}};
  if (cause.floor_share > 0) json["floor_share"] = cause.floor_share;
  json["findings"] = OrderedJson::array();
  for (const CauseFinding& one : cause.findings)
    json["findings"].push_back({{"rule", one.rule},
                                {"severity", one.severity},
                                {"message", one.message},
                                {"line", one.line},
                                {"candidate", one.key},
                                {"candidates", one.candidates}});
  return json;
}

OrderedJson DifferenceJson(const Difference& one, ReportLanguage language) {
  OrderedJson json = {{"relation", one.relation},
                      {"sentence", DifferenceSentence(one, language)},
                      {"best", one.best_key},
                      {"other", one.other_key},
                      {"best_speedup", SpeedJson(one.best)},
                      {"other_speedup", SpeedJson(one.other)},
                      {"real", one.real}};
  json["facts"] = OrderedJson::array();
  for (const DifferenceFact& fact : one.facts)
    json["facts"].push_back(
        {{"id", fact.id}, {"best", fact.best}, {"other", fact.other}, {"differs", fact.differs}});
  json["diff"] = one.diff;
  json["diff_lines_left_out"] = one.diff_lines_left_out;
  return json;
}

OrderedJson CounterfactualJson(const Counterfactual& one, const Explanation& told, ReportLanguage language) {
  OrderedJson json = {{"part", one.part},
                      {"effect", one.effect},
                      {"sentence", CounterfactualSentence(one, told, language)},
                      {"exact", one.exact}};
  if (one.effect == "not_part" || one.effect == "was_off" || one.effect == "not_recomputable") return json;
  json["best"] = KeyOrNull(BestWithout(one, told));
  json["verdict"] = one.verdict;
  json["speedup"] = SpeedJson(one.speed);
  json["lost"] = one.lost;
  json["unknown"] = OrderedJson::array();
  for (const auto& [key, why] : one.unknown) json["unknown"].push_back({{"key", key}, {"why", why}});
  json["saved"] = {{"calls", one.calls_saved},
                   {"tokens", one.tokens_saved},
                   {"usd", one.usd_saved},
                   {"seconds", one.seconds_saved}};
  return json;
}

OrderedJson CostJson(const PhaseCost& one) {
  OrderedJson json = {{"phase", one.phase}};
  json.update(RecordToJson(one.usage, Extent::kWhole));
  json["failed"] = one.failed;
  json["ask_seconds"] = one.ask_seconds;
  json["judged"] = one.judged;
  json["judge_seconds"] = one.judge_seconds;
  return json;
}

// Null for a run without a search after the opening.
OrderedJson SearchJson(const Explanation& told) {
  if (told.operators.empty()) return nullptr;
  OrderedJson operators = OrderedJson::array();
  for (const OperatorUse& one : told.operators)
    operators.push_back({{"operator", one.op},
                         {"steps", one.steps},
                         {"right", one.right},
                         {"paid", one.paid},
                         {"factor", one.factor},
                         {"calls", one.calls},
                         {"tokens", one.tokens},
                         {"usd", one.usd}});
  OrderedJson ancestors = OrderedJson::array();
  for (const Ancestor& one : told.ancestors)
    ancestors.push_back({{"candidate", one.key},
                         {"phase", one.phase},
                         {"parents", one.parents},
                         {"title", one.title},
                         {"vs_best", one.vs_best},
                         {"reason", one.reason},
                         {"calls", one.calls},
                         {"tokens", one.tokens},
                         {"usd", one.usd}});
  return {{"operators", operators}, {"ancestors", ancestors}};
}

}  // namespace

OrderedJson ToJson(const Explanation& told, ReportLanguage language) {
  OrderedJson json;
  json["run"] = RunToJson(told.run);
  json["outcome"] = OutcomeJson(told, language);
  json["timeline"] = OrderedJson::array();
  for (const TimelineRow& row : told.timeline) json["timeline"].push_back(RowJson(row));
  json["search"] = SearchJson(told);
  json["mending"] = ToJson(told.mending);
  json["rewrites"] = OrderedJson::array();
  for (const RewriteUse& one : told.rewrites)
    json["rewrites"].push_back({{"rule", one.rule},
                                {"what", one.what},
                                {"times", one.times},
                                {"operators", one.operators},
                                {"flops", one.flops},
                                {"bytes", one.bytes}});
  json["expert_seconds"] = told.expert_seconds > 0 ? OrderedJson(told.expert_seconds) : OrderedJson();
  json["causes"] = OrderedJson::array();
  for (const Cause& cause : told.causes) json["causes"].push_back(CauseJson(cause, language));
  json["difference"] = told.difference ? DifferenceJson(*told.difference, language) : OrderedJson(nullptr);
  json["counterfactuals"] = OrderedJson::array();
  for (const Counterfactual& one : told.counterfactuals)
    json["counterfactuals"].push_back(CounterfactualJson(one, told, language));
  json["costs"] = OrderedJson::array();
  for (const PhaseCost& cost : told.costs) json["costs"].push_back(CostJson(cost));
  json["usage"] = RecordToJson(told.usage, Extent::kWhole);
  json["next"] = OrderedJson::array();
  for (const NextTry& next : told.next)
    json["next"].push_back(
        {{"id", next.id}, {"sentence", NextSentence(next, language)}, {"command", next.command}});
  return json;
}

}  // namespace hone

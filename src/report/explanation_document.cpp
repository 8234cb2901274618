// An explanation as a document of seven sections, plus one each if a population search followed the opening,
// if candidates were repaired mechanically, and if the graph was rewritten.
#include <fmt/format.h>

#include "base/text.h"
#include "report/explanation_words.h"
#include "report/record_facts.h"

namespace hone {

namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string Seconds(double seconds) {
  return seconds > 0 ? fmt::format("{:.1f}", seconds) : "";
}

std::string Counted(int64_t count) {
  return count > 0 ? GroupedNumber(count) : "";
}

std::vector<std::string> Header(ReportLanguage language, std::initializer_list<const char*> names) {
  std::vector<std::string> header;
  for (const char* name : names) header.push_back(Words(language, std::string("column.") + name));
  return header;
}

void AddOutcome(const Explanation& told, ReportLanguage language, Document* document) {
  const Outcome& outcome = told.outcome;
  document->Title(Words(language, "title", {outcome.task, fmt::format("{}", told.run.id), told.run.name}));
  document->Paragraph(OutcomeSentence(told, language));
  if (outcome.id == "won")
    document->Paragraph(
        Words(language, "outcome.where",
              {outcome.device.empty() ? Words(language, "device.unknown") : outcome.device,
               Words(language, HasMessage("kind." + outcome.kind) ? "kind." + outcome.kind : "kind."),
               HumanSeconds(outcome.candidate_us * 1e-6), HumanSeconds(outcome.floor_us * 1e-6)}));
}

void AddTimeline(const Explanation& told, ReportLanguage language, Document* document) {
  if (told.timeline.empty()) return;
  document->Heading(Words(language, "section.timeline"));
  Rows rows = {
      Header(language, {"phase", "candidate", "verdict", "speed", "error", "tokens", "seconds", "note"})};
  for (const TimelineRow& row : told.timeline) {
    const bool baseline = row.verdict == "baseline";
    const std::string error = row.error_limit > 0 && !baseline && (row.error > 0 || row.speed.known())
                                  ? fmt::format("{}/{}", HumanNumber(row.error), HumanNumber(row.error_limit))
                                  : "";
    rows.push_back({PhaseWords(row.phase, language), row.key, VerdictWords(row.verdict, row.reason, language),
                    baseline ? Times(1) : SpeedWords(row.speed), error, Counted(row.tokens),
                    Seconds(row.ask_seconds + row.judge_seconds),
                    row.best   ? Words(language, "timeline.best")
                    : baseline ? ""
                               : row.note});
  }
  // phase, candidate, verdict, speed-up, error, tokens, seconds, note
  document->Table(std::move(rows), {{"", 3, 0, false},
                                    {"", 0, 14, false},
                                    {"", 0, 12, false},
                                    {"", 0, 0, false},
                                    {"", 4, 0, false},
                                    {"", 6, 0, true},
                                    {"", 5, 0, true},
                                    {"", 2, 24, false}});
}

void AddSearch(const Explanation& told, ReportLanguage language, Document* document) {
  if (told.operators.empty()) return;
  document->Heading(Words(language, "section.search"));
  const auto usd = [](double cost) { return cost > 0 ? fmt::format("{:.4f}", cost) : std::string(); };
  Rows rows = {Header(language, {"operator", "steps", "right", "paid", "factor", "calls", "tokens", "usd"})};
  for (const OperatorUse& one : told.operators)
    rows.push_back({Words(language, "phase." + one.op), fmt::format("{}", one.steps),
                    fmt::format("{}", one.right), one.op == "opening" ? "" : fmt::format("{}", one.paid),
                    Times(one.factor), Counted(one.calls), Counted(one.tokens), usd(one.usd)});
  // operator, steps, correct, paid, gain, calls, tokens, USD
  document->Table(std::move(rows), {{"", 0, 0, false},
                                    {"", 0, 0, true},
                                    {"", 0, 0, true},
                                    {"", 0, 0, true},
                                    {"", 0, 0, true},
                                    {"", 0, 0, true},
                                    {"", 3, 0, true},
                                    {"", 0, 0, true}});
  document->Paragraph(Words(language, "search.gains"));
  if (told.ancestors.empty()) return;
  document->Paragraph(Words(language, "search.way", {told.outcome.best_key}));
  rows = {Header(language, {"candidate", "phase", "parents", "speed_up", "calls", "tokens", "usd", "note"})};
  for (const Ancestor& one : told.ancestors)
    rows.push_back({one.key, PhaseWords(one.phase, language), Join(one.parents, ", "),
                    one.reason.empty() ? Times(one.vs_best) : ReasonWords(one.reason, language),
                    Counted(one.calls), Counted(one.tokens), usd(one.usd), one.title});
  // candidate, phase, parents, speed-up, calls, tokens, USD, note
  document->Table(std::move(rows), {{"", 0, 14, false},
                                    {"", 2, 0, false},
                                    {"", 0, 14, false},
                                    {"", 0, 0, false},
                                    {"", 0, 0, true},
                                    {"", 3, 0, true},
                                    {"", 0, 0, true},
                                    {"", 1, 24, false}});
}

void AddMending(const Explanation& told, ReportLanguage language, Document* document) {
  const MendingUse& use = told.mending;
  if (!use.any()) return;
  document->Heading(Words(language, "section.mending"));
  document->Paragraph(Words(
      language, "mending.total",
      {fmt::format("{}", use.mended), fmt::format("{}", use.right), fmt::format("{}", use.calls_saved)}));
  Rows rows = {Header(language, {"rule", "fixes"})};
  for (const auto& [rule, count] : use.fixes) rows.push_back({rule, fmt::format("{}", count)});
  if (rows.size() > 1) document->Table(std::move(rows), {{"", 0, 14, false}, {"", 0, 0, true}});
}

void AddRewrites(const Explanation& told, ReportLanguage language, Document* document) {
  if (told.rewrites.empty()) return;
  document->Heading(Words(language, "section.rewrites"));
  Rows rows = {Header(language, {"rewrite", "times", "operators_saved", "gflop_saved", "mb_saved", "note"})};
  const auto saved = [](double amount) {
    return amount == 0 ? std::string() : fmt::format("{:.4g}", amount);
  };
  for (const RewriteUse& one : told.rewrites)
    rows.push_back({one.rule, fmt::format("{}", one.times), saved(static_cast<double>(one.operators)),
                    saved(one.flops / 1e9), saved(one.bytes / 1e6), one.what});
  // rule, times, operators, GFLOP, MB, what it does
  document->Table(std::move(rows), {{"", 0, 14, false},
                                    {"", 0, 0, true},
                                    {"", 0, 0, true},
                                    {"", 0, 0, true},
                                    {"", 0, 0, true},
                                    {"", 2, 24, false}});
}

void AddCauses(const Explanation& told, ReportLanguage language, Document* document) {
  document->Heading(Words(language, "section.causes"));
  if (told.causes.empty()) return document->Paragraph(Words(language, "causes.none"));
  for (const Cause& cause : told.causes) {
    std::vector<std::string> details = {Words(language, "cause.which", {Join(cause.keys, ", ")})};
    for (const CauseFinding& finding : cause.findings) details.push_back(FindingSentence(finding, language));
    document->Bullet(CauseSentence(cause, language), "", std::move(details));
  }
}

void AddDifference(const Explanation& told, ReportLanguage language, Document* document) {
  document->Heading(Words(language, "section.difference"));
  if (!told.difference)
    return document->Paragraph(
        Words(language, told.outcome.id == "won" ? "difference.none" : "difference.no_best"));
  const Difference& difference = *told.difference;
  document->Paragraph(DifferenceSentence(difference, language));
  Rows rows = {{Words(language, "column.fact"), difference.best_key, difference.other_key}};
  for (const DifferenceFact& fact : difference.facts)
    if (fact.differs)
      rows.push_back({Words(language, "fact." + fact.id), FactValue(fact.id, fact.best, language),
                      FactValue(fact.id, fact.other, language)});
  if (rows.size() > 1) document->Table(std::move(rows));
  if (difference.diff.empty()) return document->Paragraph(Words(language, "difference.same_source"));
  document->Code(difference.diff, "diff");
  if (difference.diff_lines_left_out > 0)
    document->Paragraph(
        Words(language, "difference.left_out", {fmt::format("{}", difference.diff_lines_left_out)}));
}

void AddCounterfactuals(const Explanation& told, ReportLanguage language, Document* document) {
  document->Heading(Words(language, "section.counterfactuals"));
  bool any_exact = false;
  for (const Counterfactual& one : told.counterfactuals) {
    any_exact = any_exact || one.effect == "other_best" || one.effect == "same_best";
    document->Bullet(CounterfactualSentence(one, told, language));
  }
  if (any_exact) document->Paragraph(Words(language, "effect.exact"));
  // A failed run is over, unless the user resumes it.
  if (told.outcome.status != "done" && told.outcome.status != "failed")
    document->Paragraph(Words(language, "effect.unfinished"));
}

void AddCosts(const Explanation& told, ReportLanguage language, Document* document) {
  document->Heading(Words(language, "section.costs"));
  if (told.expert_seconds > 0)
    document->Paragraph(Words(language, "cost.expert", {HumanSeconds(told.expert_seconds)}));
  double judging = 0;
  bool price_known = true;
  double asking = 0;
  int judged = 0;
  for (const PhaseCost& cost : told.costs) {
    judging += cost.judge_seconds;
    asking += cost.ask_seconds;
    judged += cost.judged;
    price_known = price_known && cost.usage.price_known;
  }
  if (told.usage.calls == 0)
    return document->Paragraph(judged == 0 ? Words(language, "cost.nothing")
                                           : Words(language, "cost.no_calls", {HumanSeconds(judging)}));
  auto usd = [](double cost, bool known) { return known ? fmt::format("{:.4f}", cost) : std::string("?"); };
  Rows rows = {
      Header(language, {"phase", "calls", "prompt", "completion", "usd", "asking", "judged", "judging"})};
  bool notes = false;
  for (const PhaseCost& cost : told.costs) {
    notes = notes || cost.usage.estimated || (cost.usage.calls > 0 && !cost.usage.price_known);
    const std::string mark = cost.usage.estimated ? "~" : "";
    rows.push_back({PhaseWords(cost.phase, language), fmt::format("{}", cost.usage.calls),
                    mark + GroupedNumber(cost.usage.prompt_tokens),
                    mark + GroupedNumber(cost.usage.completion_tokens),
                    cost.usage.calls == 0 ? "" : usd(cost.usage.cost_usd, cost.usage.price_known),
                    Seconds(cost.ask_seconds), fmt::format("{}", cost.judged), Seconds(cost.judge_seconds)});
  }
  const std::string mark = told.usage.estimated ? "~" : "";
  rows.push_back({Words(language, "phase.total"), fmt::format("{}", told.usage.calls),
                  mark + GroupedNumber(told.usage.prompt_tokens),
                  mark + GroupedNumber(told.usage.completion_tokens), usd(told.usage.cost_usd, price_known),
                  Seconds(asking), fmt::format("{}", judged), Seconds(judging)});
  // phase, calls, prompt, completion, usd, asking, judged, judging
  document->Table(std::move(rows), {{"", 0, 12, false},
                                    {"", 0, 0, true},
                                    {"", 3, 0, true},
                                    {"", 4, 0, true},
                                    {"", 0, 0, true},
                                    {"", 6, 0, true},
                                    {"", 5, 0, true},
                                    {"", 2, 0, true}});
  if (notes) document->Paragraph(Words(language, "cost.estimated"));
}

void AddNext(const Explanation& told, ReportLanguage language, Document* document) {
  document->Heading(Words(language, "section.next"));
  if (told.next.empty()) return document->Paragraph(Words(language, "next.none"));
  for (const NextTry& next : told.next) document->Bullet(NextSentence(next, language), next.command);
}

}  // namespace

Document ExplanationDocument(const Explanation& told, ReportLanguage language) {
  Document document;
  document.SetLeftOutNote(Words(language, "table.left_out", {"{0}"}));
  AddOutcome(told, language, &document);
  AddTimeline(told, language, &document);
  AddSearch(told, language, &document);
  AddMending(told, language, &document);
  AddRewrites(told, language, &document);
  AddCauses(told, language, &document);
  AddDifference(told, language, &document);
  AddCounterfactuals(told, language, &document);
  AddCosts(told, language, &document);
  AddNext(told, language, &document);
  return document;
}

}  // namespace hone

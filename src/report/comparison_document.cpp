// A comparison as text and as JSON.
#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "report/comparison.h"
#include "report/explanation_words.h"
#include "store/run_result.h"

namespace hone {

namespace {

using Rows = std::vector<std::vector<std::string>>;

// A field's value, translated if it is one of Hone's own words.
std::string FieldValue(const std::string& id, const std::string& value, ReportLanguage language) {
  if (HasMessage("fact." + id)) return FactValue(id, value, language);
  if (id == "best" && value == kPyTorch) return Words(language, "compare.pytorch");
  if (id == "result") return Words(language, "result." + value);
  if (id == "status" && HasMessage("state." + value)) return Words(language, "state." + value);
  return value.empty() ? "-" : value;
}

// The judge's verdict on a candidate, or the reason for a rejection.
std::string Judgement(const std::string& id, ReportLanguage language) {
  if (id.empty()) return "-";
  if (id == "not_judged") return Words(language, "verdict.");
  return HasMessage("verdict." + id) ? Words(language, "verdict." + id) : ReasonWords(id, language);
}

std::string TimedOrDash(const Speed& speed) {
  return speed.known() ? SpeedWords(speed) : "-";
}

std::string FieldName(const std::string& id, ReportLanguage language) {
  for (const char* table : {"field.", "fact."})
    if (HasMessage(table + id)) return Words(language, table + id);
  return id;
}

std::string ContestWords(const SpeedContest& contest, const std::vector<std::string>& names,
                         ReportLanguage language) {
  if (contest.result == "real") return Words(language, "compare.real", {names[contest.winner]});
  if (contest.result == "not_real") return Words(language, "compare.not_real");
  if (contest.result == "other_task") return Words(language, "compare.other_task");
  return Words(language, "compare.untimed");
}

void AddFields(const std::vector<ComparedField>& fields, const std::vector<std::string>& names,
               bool differing, ReportLanguage language, Document* document) {
  // PyTorch is what users of a run without a right candidate keep, but it is not what the run found.
  const auto results = std::find_if(fields.begin(), fields.end(),
                                    [](const ComparedField& field) { return field.id == "result"; });
  Rows rows = {{Words(language, "column.fact")}};
  rows[0].insert(rows[0].end(), names.begin(), names.end());
  for (const ComparedField& field : fields) {
    if (field.differs != differing) continue;
    std::vector<std::string> row = {FieldName(field.id, language)};
    for (size_t i = 0; i < field.values.size(); ++i) {
      const bool none_right =
          field.id == "best" && results != fields.end() && results->values[i] == kNoneRight;
      row.push_back(none_right ? FieldValue("result", kNoneRight, language)
                               : FieldValue(field.id, field.values[i], language));
    }
    rows.push_back(std::move(row));
  }
  if (rows.size() == 1) return;
  document->Heading(Words(language, differing ? "compare.differs" : "compare.same"));
  document->Table(std::move(rows));
}

void AddWarnings(bool same_task, bool same_device, ReportLanguage language, Document* document) {
  if (!same_task) document->Paragraph(Words(language, "compare.other_task"));
  if (!same_device) document->Paragraph(Words(language, "compare.other_device"));
}

OrderedJson ContestJson(const SpeedContest& contest, const std::vector<std::string>& names,
                        ReportLanguage language) {
  return {{"a", names[contest.a]},
          {"b", names[contest.b]},
          {"speedup_a", SpeedJson(contest.speed_a)},
          {"speedup_b", SpeedJson(contest.speed_b)},
          {"result", contest.result},
          {"real", contest.result == "real"},
          {"winner", contest.result == "real" ? OrderedJson(names[contest.winner]) : OrderedJson(nullptr)},
          {"sentence", ContestWords(contest, names, language)}};
}

// A run without an answer has null, not an empty string.
OrderedJson AnswersJson(const std::vector<std::string>& answers) {
  OrderedJson json = OrderedJson::array();
  for (const std::string& one : answers) json.push_back(one.empty() ? OrderedJson() : OrderedJson(one));
  return json;
}

OrderedJson FieldsJson(const std::vector<ComparedField>& fields) {
  OrderedJson json = OrderedJson::array();
  for (const ComparedField& field : fields)
    json.push_back({{"id", field.id},
                    {"values", field.id == "best" ? AnswersJson(field.values) : OrderedJson(field.values)},
                    {"differs", field.differs}});
  return json;
}

}  // namespace

Document ComparisonDocument(const RunComparison& compared, ReportLanguage language) {
  Document document;
  document.SetLeftOutNote(Words(language, "table.left_out", {"{0}"}));
  document.Title(Words(language, "compare.runs", {fmt::format("{}", compared.names.size())}));
  for (const SpeedContest& contest : compared.contests)
    document.Bullet(fmt::format("{} {} / {} {}: {}", compared.names[contest.a], TimedOrDash(contest.speed_a),
                                compared.names[contest.b], TimedOrDash(contest.speed_b),
                                ContestWords(contest, compared.names, language)));
  document.Paragraph(Words(language, "compare.how"));
  AddWarnings(compared.same_task, compared.same_device, language, &document);
  AddFields(compared.fields, compared.names, true, language, &document);
  if (!compared.candidates.empty()) {
    document.Heading(Words(language, "compare.candidates_of"));
    Rows rows = {{Words(language, "column.candidate")}};
    rows[0].insert(rows[0].end(), compared.names.begin(), compared.names.end());
    for (const ComparedCandidate& one : compared.candidates) {
      std::vector<std::string> row = {one.key};
      for (size_t i = 0; i < one.verdicts.size(); ++i)
        row.push_back(
            std::string(Trim(Judgement(one.verdicts[i], language) + " " + SpeedWords(one.speeds[i]))));
      rows.push_back(std::move(row));
    }
    document.Table(std::move(rows));
  }
  AddFields(compared.fields, compared.names, false, language, &document);
  return document;
}

Document ComparisonDocument(const CandidateComparison& compared, ReportLanguage language) {
  Document document;
  document.SetLeftOutNote(Words(language, "table.left_out", {"{0}"}));
  document.Title(Words(language, "compare.candidates", {compared.names[0], compared.names[1]}));
  document.Bullet(fmt::format("{} / {}: {}", TimedOrDash(compared.contest.speed_a),
                              TimedOrDash(compared.contest.speed_b),
                              ContestWords(compared.contest, compared.names, language)));
  document.Paragraph(Words(language, "compare.how"));
  AddWarnings(compared.same_task, compared.same_device, language, &document);
  std::vector<ComparedField> all = compared.fields;
  all.insert(all.end(), compared.findings.begin(), compared.findings.end());
  AddFields(all, compared.names, true, language, &document);
  AddFields(all, compared.names, false, language, &document);
  if (compared.diff.empty()) {
    document.Paragraph(Words(language, "difference.same_source"));
  } else {
    document.Code(compared.diff, "diff");
  }
  if (compared.diff_lines_left_out > 0)
    document.Paragraph(
        Words(language, "difference.left_out", {fmt::format("{}", compared.diff_lines_left_out)}));
  return document;
}

Document ComparisonDocument(const SuiteComparison& compared, ReportLanguage language) {
  Document document;
  document.SetLeftOutNote(Words(language, "table.left_out", {"{0}"}));
  const std::string& a = compared.names[0];
  const std::string& b = compared.names[1];
  document.Title(Words(language, "compare.suites", {a, b}));
  document.Paragraph(
      Words(language, "compare.tally",
            {a, fmt::format("{}", compared.wins_a), b, fmt::format("{}", compared.wins_b),
             fmt::format("{}", compared.not_told_apart), fmt::format("{}", compared.only_one)}));
  if (compared.common > 0)
    document.Paragraph(
        Words(language, "compare.geomean",
              {fmt::format("{}", compared.common), Times(compared.geomean_a), Times(compared.geomean_b)}));
  document.Paragraph(Words(language, "compare.how"));
  AddWarnings(true, compared.same_device, language, &document);
  Rows rows = {{Words(language, "column.task"), a, b, Words(language, "column.real")}};
  auto side = [&](const std::string& status, const std::string& best, const std::string& result,
                  const Speed& speed) {
    if (status.empty()) return std::string("-");
    if (!speed.known()) return FieldValue("result", result, language);
    return fmt::format("{} {}", SpeedWords(speed),
                       best == kPyTorch ? FieldValue("result", result, language) : best);
  };
  for (const ComparedTask& row : compared.tasks)
    rows.push_back({row.task, side(row.status_a, row.best_a, row.result_a, row.contest.speed_a),
                    side(row.status_b, row.best_b, row.result_b, row.contest.speed_b),
                    ContestWords(row.contest, compared.names, language)});
  document.Table(std::move(rows));
  return document;
}

OrderedJson ToJson(const RunComparison& compared, ReportLanguage language) {
  OrderedJson json = {{"kind", "runs"},
                      {"names", compared.names},
                      {"same_task", compared.same_task},
                      {"same_device", compared.same_device}};
  json["contests"] = OrderedJson::array();
  for (const SpeedContest& contest : compared.contests)
    json["contests"].push_back(ContestJson(contest, compared.names, language));
  json["fields"] = FieldsJson(compared.fields);
  json["candidates"] = OrderedJson::array();
  for (const ComparedCandidate& one : compared.candidates) {
    OrderedJson speeds = OrderedJson::array();
    for (const Speed& speed : one.speeds) speeds.push_back(SpeedJson(speed));
    json["candidates"].push_back(
        {{"key", one.key}, {"verdicts", one.verdicts}, {"speedups", speeds}, {"differs", one.differs}});
  }
  return json;
}

OrderedJson ToJson(const CandidateComparison& compared, ReportLanguage language) {
  return {{"kind", "candidates"},
          {"names", compared.names},
          {"same_task", compared.same_task},
          {"same_device", compared.same_device},
          {"contest", ContestJson(compared.contest, compared.names, language)},
          {"facts", FieldsJson(compared.fields)},
          {"findings", FieldsJson(compared.findings)},
          {"diff", compared.diff},
          {"diff_lines_left_out", compared.diff_lines_left_out}};
}

OrderedJson ToJson(const SuiteComparison& compared, ReportLanguage language) {
  OrderedJson json = {
      {"kind", "suites"},
      {"names", compared.names},
      {"same_device", compared.same_device},
      {"wins", {compared.wins_a, compared.wins_b}},
      {"not_told_apart", compared.not_told_apart},
      {"only_one", compared.only_one},
      {"common", compared.common},
      {"geomean_vs_best",
       compared.common > 0 ? OrderedJson{compared.geomean_a, compared.geomean_b} : OrderedJson()}};
  json["tasks"] = OrderedJson::array();
  for (const ComparedTask& row : compared.tasks) {
    OrderedJson one = {{"task", row.task},
                       {"status", {row.status_a, row.status_b}},
                       {"result", AnswersJson({row.result_a, row.result_b})},
                       {"best", AnswersJson({row.best_a, row.best_b})}};
    one["contest"] = ContestJson(row.contest, compared.names, language);
    json["tasks"].push_back(std::move(one));
  }
  return json;
}

}  // namespace hone

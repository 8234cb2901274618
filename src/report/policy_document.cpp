// A comparison of policies as text and as JSON.
#include <fmt/format.h>

#include <iterator>

#include "base/json.h"
#include "base/text.h"
#include "report/explanation_words.h"
#include "report/policy_comparison.h"
#include "report/record_facts.h"
#include "store/run_result.h"

namespace hone {

namespace {

constexpr const char* kResults[] = {kAccepted,    kKeptPyTorch,  kNoneRight,
                                    kCannotJudge, kNothingTried, kRunFailed};
constexpr size_t kMostLeftOut = 12;

std::string CountText(size_t value) {
  return fmt::format("{}", value);
}

std::string CostWords(const PolicyPoint& point, ReportLanguage language) {
  if (point.cost == PolicyPoint::Cost::kAll) return Words(language, "policy.end");
  if (point.cost == PolicyPoint::Cost::kDollars)
    return Words(language, "policy.usd", {fmt::format("{:.6g}", point.at)});
  return Words(language, point.at == 1 ? "policy.call" : "policy.calls", {fmt::format("{:.0f}", point.at)});
}

std::string RatioText(const PairedRatio& ratio) {
  const std::string alone = fmt::format("{:.2f}", ratio.ratio);
  return ratio.has_interval() ? fmt::format("{} [{:.2f}, {:.2f}]", alone, ratio.low, ratio.high) : alone;
}

const char* ResultId(const PairedRatio& ratio) {
  if (!ratio.has_interval()) return "too_few";
  return ratio.b_is_better() ? "b_better" : ratio.a_is_better() ? "a_better" : "not_told";
}

const std::string* WinnerOf(const PolicyComparison& compared, const PairedRatio& ratio) {
  if (ratio.b_is_better()) return &compared.sides[1].name;
  return ratio.a_is_better() ? &compared.sides[0].name : nullptr;
}

std::string ToldWords(const PolicyComparison& compared, const PairedRatio& ratio, ReportLanguage language) {
  if (const std::string* winner = WinnerOf(compared, ratio))
    return Words(language, "policy.better", {*winner});
  return Words(language, std::string("policy.") + ResultId(ratio));
}

std::string PointSentence(const PolicyComparison& compared, const PolicyPoint& point,
                          ReportLanguage language) {
  return Words(
      language, "policy.point",
      {CostWords(point, language), compared.sides[0].name, Times(point.best[0]), compared.sides[1].name,
       Times(point.best[1]), RatioText(point.ratio), ToldWords(compared, point.ratio, language)});
}

// What the intervals are about, or why there are none.
std::string AboutSentence(const PolicyComparison& compared, ReportLanguage language) {
  if (compared.points.empty()) return Words(language, "policy.no_pair");
  using About = PairedRatio::About;
  const About about = compared.points.back().ratio.about;
  const std::string pairs =
      compared.pairs == 1
          ? Words(language, "policy.pair")
          : Words(language, "policy.pairs", {CountText(compared.pairs), CountText(compared.tasks)});
  if (about == About::kNothing)
    return pairs + Words(language, "policy.no_interval",
                         {CountText(kTasksToDraw), CountText(kLeastPairs), CountText(kRunsToDraw)});
  return pairs + Words(language, about == About::kTheseTasks ? "policy.these" : "policy.like_these");
}

std::string WhyLeftOut(const LeftOutRun& run, ReportLanguage language) {
  const std::string own = "policy." + run.why;
  return run.run + ": " + Words(language, HasMessage(own) ? own : "result." + run.why);
}

std::string DollarText(const PolicyTotals& side, double usd) {
  return side.usage.price_known ? fmt::format("{:.4f}", usd) : "?";
}

void AddSides(const PolicyComparison& compared, ReportLanguage language, Document* document) {
  std::vector<std::vector<std::string>> rows = {
      {Words(language, "column.fact"), compared.sides[0].name, compared.sides[1].name}};
  for (const ComparedField& field : compared.settings) {
    const std::string id = "field." + field.id;
    std::vector<std::string> row = {HasMessage(id) ? Words(language, id) : field.id};
    for (const std::string& value : field.values) row.push_back(value.empty() ? "-" : value);
    rows.push_back(std::move(row));
  }
  const auto add = [&](const std::string& name, const auto& value) {
    rows.push_back({name, value(compared.sides[0]), value(compared.sides[1])});
  };
  add(Words(language, "policy.runs"), [](const PolicyTotals& side) { return fmt::format("{}", side.runs); });
  std::vector<const char*> results(std::begin(kResults), std::end(kResults));
  results.push_back("");
  for (const char* result : results) {
    const auto count = [&](const PolicyTotals& side) {
      const auto found = side.results.find(result);
      return found == side.results.end() ? 0 : found->second;
    };
    if (result[0] == '\0' && count(compared.sides[0]) + count(compared.sides[1]) == 0) continue;
    add("  " + Words(language, std::string("result.") + result),
        [&](const PolicyTotals& side) { return fmt::format("{}", count(side)); });
  }
  add(Words(language, "policy.calls_spent"), [](const PolicyTotals& side) {
    return fmt::format("{} ({:.6g})", GroupedNumber(side.usage.calls), side.median_calls);
  });
  add(Words(language, "policy.usd_spent"), [](const PolicyTotals& side) {
    return fmt::format("{} ({})", DollarText(side, side.usage.cost_usd), DollarText(side, side.median_usd));
  });
  add(Words(language, "field.tokens"),
      [](const PolicyTotals& side) { return GroupedNumber(side.usage.total()); });
  add(Words(language, "field.seconds"),
      [](const PolicyTotals& side) { return fmt::format("{:.1f}", side.seconds); });
  document->Heading(Words(language, "policy.sides"));
  document->Table(std::move(rows));
}

}  // namespace

Document ComparisonDocument(const PolicyComparison& compared, ReportLanguage language) {
  Document document;
  document.SetLeftOutNote(Words(language, "table.left_out", {"{0}"}));
  document.Title(Words(language, "policy.title", {compared.sides[0].name, compared.sides[1].name}));
  for (const PolicyPoint& point : compared.points)
    if (point.headline) document.Bullet(PointSentence(compared, point, language));
  document.Paragraph(AboutSentence(compared, language));
  if (compared.by_seed > 0)
    document.Paragraph(Words(language, "policy.by_seed", {CountText(compared.by_seed)}));
  if (!compared.same_device) document.Paragraph(Words(language, "compare.other_device"));
  if (!compared.points.empty()) {
    if (!compared.priced) document.Paragraph(Words(language, "policy.no_price"));
    document.Heading(Words(language, "policy.by_cost"));
    document.Paragraph(Words(language, "policy.how", {compared.sides[0].name, compared.sides[1].name}));
    std::vector<std::vector<std::string>> rows = {
        {Words(language, "policy.cost"), compared.sides[0].name, compared.sides[1].name,
         Words(language, "policy.ratio"), Words(language, "policy.pairs_of"), Words(language, "policy.spent"),
         Words(language, "policy.told")}};
    for (const PolicyPoint& point : compared.points)
      rows.push_back({CostWords(point, language), Times(point.best[0]), Times(point.best[1]),
                      RatioText(point.ratio), CountText(point.pairs),
                      point.cost == PolicyPoint::Cost::kAll
                          ? "-"
                          : fmt::format("{} / {}", point.spent[0], point.spent[1]),
                      ToldWords(compared, point.ratio, language)});
    document.Table(std::move(rows));
  }
  AddSides(compared, language, &document);
  if (compared.left_out.empty()) return document;
  document.Heading(Words(language, "policy.left_out", {CountText(compared.left_out.size())}));
  for (size_t i = 0; i < compared.left_out.size() && i < kMostLeftOut; ++i)
    document.Bullet(WhyLeftOut(compared.left_out[i], language));
  if (compared.left_out.size() > kMostLeftOut)
    document.Paragraph(Words(language, "policy.more", {CountText(compared.left_out.size() - kMostLeftOut)}));
  return document;
}

OrderedJson ToJson(const PolicyComparison& compared, ReportLanguage language) {
  OrderedJson json = {{"kind", "policies"},
                      {"names", {compared.sides[0].name, compared.sides[1].name}},
                      {"pairs", compared.pairs},
                      {"tasks", compared.tasks},
                      {"tasks_paired_by_seed", compared.by_seed},
                      {"same_device", compared.same_device},
                      {"sentence", AboutSentence(compared, language)}};
  json["points"] = OrderedJson::array();
  for (const PolicyPoint& point : compared.points) {
    const PairedRatio& ratio = point.ratio;
    const std::string* winner = WinnerOf(compared, ratio);
    OrderedJson one;
    one["cost"] = point.cost == PolicyPoint::Cost::kCalls     ? "calls"
                  : point.cost == PolicyPoint::Cost::kDollars ? "usd"
                                                              : "all";
    one["at"] = point.cost == PolicyPoint::Cost::kAll ? OrderedJson() : OrderedJson(point.at);
    one["headline"] = point.headline;
    one["pairs"] = point.pairs;
    one["best"] = {point.best[0], point.best[1]};
    one["ratio"] = ratio.ratio;
    one["ci95"] = ratio.has_interval() ? OrderedJson{ratio.low, ratio.high} : OrderedJson();
    one["about"] = !ratio.has_interval()                            ? OrderedJson()
                   : ratio.about == PairedRatio::About::kTheseTasks ? OrderedJson("these_tasks")
                                                                    : OrderedJson("tasks_like_these");
    one["result"] = ResultId(ratio);
    one["winner"] = winner == nullptr ? OrderedJson() : OrderedJson(*winner);
    if (point.cost != PolicyPoint::Cost::kAll) one["runs_that_spent_it"] = {point.spent[0], point.spent[1]};
    one["sentence"] = PointSentence(compared, point, language);
    json["points"].push_back(std::move(one));
  }
  json["sides"] = OrderedJson::array();
  for (size_t side = 0; side < compared.sides.size(); ++side) {
    const PolicyTotals& totals = compared.sides[side];
    OrderedJson results = OrderedJson::object();
    int over = 0;
    for (const char* result : kResults) {
      const auto found = totals.results.find(result);
      results[result] = found == totals.results.end() ? 0 : found->second;
      over += found == totals.results.end() ? 0 : found->second;
    }
    OrderedJson settings = OrderedJson::object();
    for (const ComparedField& field : compared.settings) settings[field.id.c_str()] = field.values[side];
    const auto usd = [&](double value) {
      return totals.usage.price_known ? OrderedJson(value) : OrderedJson();
    };
    json["sides"].push_back({{"name", totals.name},
                             {"runs", totals.runs},
                             {"results", results},
                             {"not_over", totals.runs - over},
                             {"calls", totals.usage.calls},
                             {"calls_median", totals.median_calls},
                             {"usd", usd(totals.usage.cost_usd)},
                             {"usd_median", usd(totals.median_usd)},
                             {"tokens", totals.usage.total()},
                             {"seconds", totals.seconds},
                             {"settings", settings}});
  }
  json["left_out"] = OrderedJson::array();
  for (const LeftOutRun& run : compared.left_out)
    json["left_out"].push_back({{"run", run.run}, {"why", run.why.empty() ? "not_over" : run.why}});
  return json;
}

}  // namespace hone

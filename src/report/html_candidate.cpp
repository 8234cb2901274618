// One candidate as part of a page: its verdict with the reason, its plots, its source with findings in the
// margin, and its diffs to its parent and to the best.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/text.h"
#include "report/escape.h"
#include "report/highlight.h"
#include "report/html_fragments.h"
#include "report/line_diff.h"
#include "report/plots/row_canvas.h"
#include "report/record_facts.h"
#include "report/verdict_report.h"
#include "verdict/reasons.h"

namespace hone {

namespace {

// Browsers become slow with more lines; the run's folder has the whole file.
constexpr size_t kMostSourceLines = 6000;
constexpr size_t kMostDiffRows = 4000;

std::string DiffRow(const NumberedLine& line) {
  if (line.kind == '@') return fmt::format("<div class=\"row gap\">{}</div>\n", EscapeHtml(line.text));
  const char* kind = line.kind == '+' ? " add" : line.kind == '-' ? " del" : "";
  const auto number = [](int value) { return value > 0 ? std::to_string(value) : std::string(); };
  return fmt::format(
      "<div class=\"row{}\"><span class=\"ln\">{}</span><span class=\"ln\">{}</span><span>{}</span>"
      "<code>{}</code></div>\n",
      kind, number(line.before), number(line.after), line.kind, EscapeHtml(line.text));
}

std::string FindingText(const Json& finding) {
  std::string html = fmt::format("<p><b>{}</b> {}", EscapeHtml(GetString(finding, "rule")),
                                 EscapeHtml(GetString(finding, "message")));
  const std::string fix = GetString(finding, "fix");
  if (!fix.empty()) html += fmt::format("<br><i>{}</i>", EscapeHtml(fix));
  return html + "</p>";
}

// The highest severity among one line's findings.
std::string Gravest(const std::vector<const Json*>& findings) {
  std::string gravest = "note";
  for (const Json* one : findings) {
    const std::string severity = GetString(*one, "severity");
    if (severity == "error") return "error";
    if (severity == "warning") gravest = "warning";
  }
  return gravest;
}

}  // namespace

std::string GateList(const Json& record) {
  const Json& gates = GetMember(record, "gates");
  if (!gates.is_object() || gates.empty()) return "";
  // In the judge's order, which JSON does not keep.
  std::vector<std::string> order = {"lint",    "sandbox", "build",         "timers",        "shape",
                                    "dtype",   "written", "finite",        "fresh",         "inputs",
                                    "correct", "runs",    "deterministic", "timed_answers", "synchronised",
                                    "floor",   "speed"};
  for (const auto& [name, state] : gates.items())
    if (std::find(order.begin(), order.end(), name) == order.end()) order.push_back(name);
  std::string html = "<ul class=\"gates\" aria-label=\"Gates\">";
  for (const std::string& name : order) {
    if (!gates.contains(name)) continue;
    const std::string text = GetString(gates, name.c_str());
    const char* kind = text == "pass" ? "pass" : text == "fail" ? "fail" : "skipped";
    const char* word = text == "pass" ? "passed" : text == "fail" ? "failed" : "not reached";
    html += fmt::format("<li class=\"{}\" title=\"{}\">{}</li>", kind, word, EscapeHtml(name));
  }
  return html + "</ul>\n";
}

std::string VerdictFacts(const CandidateRecord& candidate, const Json& record) {
  std::vector<std::pair<std::string, std::string>> facts;
  const Json& speed = GetMember(record, "speedup");
  if (speed.is_object()) {
    facts.emplace_back(
        "speed-up",
        fmt::format("{} against {}, the best PyTorch baseline (95% interval {:.3f} to {:.3f}); {} "
                    "against eager",
                    TimesSign(candidate.vs_best), GetString(speed, "best_baseline"), candidate.ci_low,
                    candidate.ci_high, TimesSign(candidate.vs_eager)));
    facts.emplace_back("time per call", fmt::format("{}; {} {}", Microseconds(candidate.candidate_us),
                                                    GetString(speed, "best_baseline"),
                                                    Microseconds(GetNumber(speed, "best_us"))));
  }
  if (candidate.predicted_us > 0) facts.emplace_back("predicted", Microseconds(candidate.predicted_us));
  const Json& error = GetMember(record, "error");
  if (error.is_object())
    facts.emplace_back("error", fmt::format("{} against float64, limit {}; PyTorch itself {}",
                                            HumanNumber(GetNumber(error, "candidate")),
                                            HumanNumber(GetNumber(error, "limit")),
                                            HumanNumber(GetNumber(error, "reference"))));
  facts.emplace_back("kind", candidate.kind);
  facts.emplace_back("kernel class", candidate.kernel_class);
  const Json& launches = GetMember(record, "launches");
  if (GetMember(launches, "candidate").is_number()) {
    const bool cpu = GetString(GetMember(record, "provenance"), "target") == "cpu";
    std::string text = fmt::format("{} {} per forward", GetInt(launches, "candidate"),
                                   cpu ? "library operators" : "kernels");
    if (GetMember(launches, "reference").is_number())
      text += fmt::format(", PyTorch {}", GetInt(launches, "reference"));
    facts.emplace_back("launches", text);
  }
  for (const Json& note : GetMember(record, "notes"))
    if (note.is_string()) facts.emplace_back("note", note.get<std::string>());
  if (candidate.judged() && candidate.verdict != "baseline")
    facts.emplace_back("next", NextStep(candidate.reason));
  return FactList(facts);
}

std::string ProvenanceFacts(const Json& record) {
  const Json& from = GetMember(record, "provenance");
  if (!from.is_object()) return "";
  const Json& task = GetMember(from, "task");
  const Json& candidate = GetMember(from, "candidate");
  std::vector<std::pair<std::string, std::string>> facts = {
      {"judged", GetString(from, "time")},
      {"hone", GetString(from, "hone")},
      {"device", GetString(from, "device")},
      {"target", GetString(from, "target")},
      {"system", GetString(from, "system")},
      {"python, torch", fmt::format("{}, {}", GetString(from, "python"), GetString(from, "torch"))},
      {"triton", GetString(from, "triton")},
      {"sandbox", GetString(from, "sandbox")},
      {"truth", GetString(from, "truth")},
      {"precision", GetString(from, "precision")}};
  const Json& load = GetMember(from, "load_average");
  if (load.is_array() && !load.empty() && load[0].is_number())
    facts.emplace_back("load average",
                       fmt::format("{:.2f} over {} cores", load[0].get<double>(), GetInt(from, "cores")));
  if (GetInt(from, "threads") > 0) facts.emplace_back("threads", std::to_string(GetInt(from, "threads")));
  const Json& gpu = GetMember(from, "gpu");
  if (gpu.is_object())
    facts.emplace_back(
        "gpu", fmt::format("{}, driver {}, {} MHz, {} °C", GetString(gpu, "name"), GetString(gpu, "driver"),
                           GetString(gpu, "sm_clock_mhz"), GetString(gpu, "temperature_c")));
  facts.emplace_back("evaluation took", HumanSeconds(GetNumber(from, "seconds")));
  facts.emplace_back("task sha256", GetString(task, "sha256"));
  facts.emplace_back("candidate sha256", GetString(candidate, "sha256"));
  std::string html = FactList(facts);
  std::vector<std::vector<Cell>> rows;
  for (const Json& seed : GetMember(from, "seeds"))
    rows.push_back({{GetString(seed, "case"), "", ""},
                    {GetString(seed, "regime"), "", ""},
                    {DumpJson(GetMember(seed, "weights")), "", ""},
                    {DumpJson(GetMember(seed, "inputs")), "", ""},
                    {DumpJson(GetMember(seed, "call")), "", ""}});
  if (!rows.empty())
    html += Details("Seeds", HtmlTable({"case", "regime", "weights", "inputs", "call"}, rows, "Seeds"), false,
                    "small");
  return html;
}

std::string SourceWithFindings(const std::string& source, const Json& findings, const std::string& prefix) {
  std::map<int64_t, std::vector<const Json*>> by_line;
  if (findings.is_array())
    for (const Json& finding : findings) by_line[GetInt(finding, "line")].push_back(&finding);
  const std::vector<std::string> lines = Lines(source);
  const std::vector<std::string> code = HighlightPython(source);
  std::string html = "<div class=\"source\">\n";
  for (size_t i = 0; i < lines.size() && i < kMostSourceLines; ++i) {
    const int64_t number = static_cast<int64_t>(i) + 1;
    const auto found = by_line.find(number);
    const bool noted = found != by_line.end();
    html += fmt::format("<div class=\"row{}\" id=\"{}-L{}\"><span class=\"ln\">{}</span><code>{}</code>",
                        noted ? " noted " + Gravest(found->second) : "", prefix, number, number,
                        i < code.size() ? code[i] : EscapeHtml(lines[i]));
    if (noted) {
      html += "<div class=\"margin\">";
      for (const Json* finding : found->second) html += FindingText(*finding);
      html += "</div>";
      by_line.erase(found);
    }
    html += "</div>\n";
  }
  if (lines.size() > kMostSourceLines)
    html += fmt::format("<div class=\"row\"><span class=\"ln\"></span><code>… {} more lines</code></div>\n",
                        lines.size() - kMostSourceLines);
  html += "</div>\n";
  // Findings without a line in the file.
  for (const auto& [line, others] : by_line)
    for (const Json* finding : others) html += FindingText(*finding) + "\n";
  return html;
}

std::string DiffView(const std::string& before, const std::string& after) {
  const std::vector<NumberedLine> lines = ShortDiff(before, after);
  if (lines.empty()) return "<p class=\"quiet\">The files are the same.</p>\n";
  std::string html = "<div class=\"source diff\">\n";
  for (size_t i = 0; i < lines.size() && i < kMostDiffRows; ++i) html += DiffRow(lines[i]);
  if (lines.size() > kMostDiffRows)
    html += fmt::format("<div class=\"row gap\">… {} more lines</div>\n", lines.size() - kMostDiffRows);
  return html + "</div>\n";
}

std::string CandidateBody(const CandidateRecord& candidate, const CandidateRecord* parent,
                          const CandidateRecord* best) {
  const Json record = ParsedOrNull(candidate.json);
  std::string html;
  if (!candidate.title.empty())
    html += fmt::format("<p class=\"quiet\">{}</p>\n", EscapeHtml(candidate.title));
  if (!candidate.detail.empty() && candidate.verdict != NameOf(Decision::kAccepted))
    html += fmt::format("<p class=\"why\">{}</p>\n", EscapeHtml(candidate.detail));
  html += GateList(record);
  html += VerdictFacts(candidate, record);
  html += PlotFigures(CandidatePlots(FigureOf(candidate)));
  const std::string anchor = CandidateAnchor(candidate.key);
  if (!candidate.source.empty())
    html += Details(fmt::format("Source, {} lines", Lines(candidate.source).size()),
                    SourceWithFindings(candidate.source, ParsedOrNull(candidate.findings), anchor));
  const auto differs = [&](const CandidateRecord* other) {
    return other != nullptr && other->key != candidate.key && !other->source.empty() &&
           !candidate.source.empty();
  };
  if (differs(parent))
    html += Details("What changed from its parent <code>" + EscapeHtml(parent->key) + "</code>",
                    DiffView(parent->source, candidate.source));
  if (differs(best) && (parent == nullptr || best->key != parent->key))
    html += Details("What the best, <code>" + EscapeHtml(best->key) + "</code>, does differently",
                    DiffView(candidate.source, best->source));
  const std::string provenance = ProvenanceFacts(record);
  if (!provenance.empty()) html += Details("Provenance of this verdict", provenance);
  return html;
}

std::string CandidateDetails(const CandidateRecord& candidate, const CandidateRecord* parent,
                             const CandidateRecord* best, bool open) {
  const bool is_best = best != nullptr && best->key == candidate.key;
  std::string summary = fmt::format("<span class=\"key\">{}</span>{}", EscapeHtml(candidate.key),
                                    VerdictBadge(candidate.verdict, candidate.reason, is_best));
  if (candidate.vs_best > 0 && candidate.verdict != "baseline")
    summary += fmt::format("<span class=\"speed\">{} <span class=\"quiet\">[{:.2f}, {:.2f}]</span></span>",
                           TimesSign(candidate.vs_best), candidate.ci_low, candidate.ci_high);
  return Details(summary,
                 fmt::format("<div class=\"inside\" id=\"{}\">\n{}</div>\n", CandidateAnchor(candidate.key),
                             CandidateBody(candidate, parent, best)),
                 open, "candidate");
}

}  // namespace hone

// Reports: JSON for programs, SARIF 2.1.0 for editors and code hosts, text for users.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/lint.h"
#include "base/text.h"

namespace hone {

OrderedJson ToJson(const LintReport& report) {
  OrderedJson out;
  out["path"] = report.path;
  out["kernel_class"] = KernelClassName(report.kernel_class);
  OrderedJson evidence = OrderedJson::array();
  for (const Evidence& piece : report.evidence)
    evidence.push_back({{"line", piece.line}, {"what", piece.what}});
  out["evidence"] = evidence;
  out["facts"] = report.facts;
  out["findings"] = ToJson(report.findings);
  return out;
}

OrderedJson ToSarif(const std::vector<LintReport>& reports) {
  OrderedJson rules = OrderedJson::array();
  for (const CheckInfo& check : AllChecks())
    rules.push_back({{"id", std::string(check.rule)},
                     {"shortDescription", {{"text", std::string(check.summary)}}},
                     {"fullDescription", {{"text", std::string(Trim(ExplainCheck(check.rule)))}}},
                     {"defaultConfiguration", {{"level", SeverityName(check.severity)}}}});
  OrderedJson results = OrderedJson::array();
  for (const LintReport& report : reports)
    for (const Finding& finding : report.findings) {
      const OrderedJson region = {{"startLine", std::max(1u, finding.line)},
                                  {"startColumn", std::max(1u, finding.column)}};
      results.push_back(
          {{"ruleId", finding.rule},
           {"level", SeverityName(finding.severity)},
           {"message", {{"text", finding.message + (finding.fix.empty() ? "" : ". " + finding.fix)}}},
           {"locations",
            OrderedJson::array({{{"physicalLocation",
                                  {{"artifactLocation", {{"uri", report.path}}}, {"region", region}}}}})}});
    }
  OrderedJson driver = {{"name", "hone lint"}, {"version", HONE_VERSION}, {"rules", rules}};
  OrderedJson run;
  run["tool"] = {{"driver", driver}};
  run["columnKind"] = "unicodeCodePoints";
  run["results"] = results;
  OrderedJson out;
  out["$schema"] = "https://json.schemastore.org/sarif-2.1.0.json";
  out["version"] = "2.1.0";
  out["runs"] = OrderedJson::array({run});
  return out;
}

std::string ToText(const LintReport& report, const std::string& source_text, bool color) {
  const SourceText source(source_text);
  const char* const bold = color ? "\x1b[1m" : "";
  const char* const reset = color ? "\x1b[0m" : "";
  std::string out;
  for (const Finding& finding : report.findings) {
    const char* tint = "";
    if (color)
      tint = finding.severity == Severity::kError     ? "\x1b[31m"
             : finding.severity == Severity::kWarning ? "\x1b[33m"
                                                      : "\x1b[36m";
    out += fmt::format("{}{}:{}:{}:{} {}{}{}: {} [{}]\n", bold, report.path, finding.line, finding.column,
                       reset, tint, SeverityName(finding.severity), reset, SafeForTerminal(finding.message),
                       finding.rule);
    const std::string line = SafeForTerminal(source.Line(finding.line));
    if (!Trim(line).empty() && line.size() < 300) {
      // Keeps tabs before the caret, so that it is under the right character.
      std::string indent;
      uint32_t column = 1;
      for (size_t i = 0; i < line.size() && column < finding.column; ++i) {
        if ((static_cast<unsigned char>(line[i]) & 0xC0) == 0x80) continue;
        indent += line[i] == '\t' ? '\t' : ' ';
        ++column;
      }
      out += fmt::format("  {}\n  {}^\n", line, indent);
    }
    if (!finding.fix.empty()) out += fmt::format("  fix: {}\n", SafeForTerminal(finding.fix));
  }
  return out;
}

}  // namespace hone

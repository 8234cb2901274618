#include "analysis/lint.h"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/check.h"
#include "analysis/facts.h"
#include "analysis/fixes/fix.h"
#include "base/text.h"

namespace hone {

namespace {

// `# hone: allow RULE, RULE` on the finding's line, or alone on the line above.
class Allowances {
 public:
  explicit Allowances(const SourceText& source) {
    for (uint32_t line = 1; line <= source.line_count(); ++line) {
      const std::string_view text = source.Line(line);
      const size_t at = text.find("hone: allow ");
      if (at == std::string_view::npos) continue;
      const size_t comment = std::max(text.rfind('#', at), text.rfind("//", at));
      const size_t hash = text.rfind('#', at);
      const size_t slashes = text.rfind("//", at);
      if (hash == std::string_view::npos && slashes == std::string_view::npos) continue;
      const bool alone =
          Trim(text.substr(0, hash == std::string_view::npos ? slashes : std::min(hash, comment))).empty();
      for (const std::string& rule : Split(text.substr(at + 12), ',')) {
        const std::string name(Trim(rule));
        if (name.empty()) continue;
        allowed_[line].insert(name);
        if (alone) allowed_[line + 1].insert(name);
      }
    }
  }

  bool Covers(const Finding& finding) const {
    const auto it = allowed_.find(finding.line);
    return it != allowed_.end() && it->second.count(finding.rule) != 0;
  }

 private:
  std::map<uint32_t, std::set<std::string>> allowed_;
};

}  // namespace

bool LintReport::has_errors() const {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& f) { return f.severity == Severity::kError; });
}

LintOptions LintOptionsOn(const Json& facts, std::string task_text) {
  LintOptions options;
  options.task_text = std::move(task_text);
  const uint32_t installed = TritonVersionMask(GetString(facts, "triton"));
  if (installed != 0) options.triton_versions = installed;
  options.device = FindDevice(GetString(facts, "device_name"));
  return options;
}

LintReport LintSource(const std::string& path, const std::string& text, const LintOptions& options) {
  LintReport report;
  report.path = path;
  const std::unique_ptr<Candidate> candidate = ReadCandidate(path, text, options);
  for (const CheckInfo& check : AllChecks()) {
    FindingSink sink(*candidate, check, &report.findings);
    check.run(*candidate, &sink);
  }
  const Allowances allowances(candidate->source);
  std::erase_if(report.findings, [&](const Finding& finding) { return allowances.Covers(finding); });
  std::stable_sort(report.findings.begin(), report.findings.end(),
                   [](const Finding& a, const Finding& b) { return a.start < b.start; });
  // One launch or config can show the same mistake several times.
  const auto same = [](const Finding& a, const Finding& b) {
    return a.rule == b.rule && a.start == b.start && a.message == b.message;
  };
  report.findings.erase(std::unique(report.findings.begin(), report.findings.end(), same),
                        report.findings.end());
  OfferFixes(*candidate, &report.findings);
  report.kernel_class = Classify(*candidate, &report.evidence);
  report.facts = CollectFacts(*candidate);
  return report;
}

}  // namespace hone

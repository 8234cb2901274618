#include "analysis/mend.h"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/fixes/fix.h"
#include "base/diff.h"
#include "base/text.h"

namespace hone {

namespace {

// Each round fixes at least one finding or is the last. No file needs this many.
constexpr int kMostMendingRounds = 40;
// The longest chain of fixes that is only right as a whole: a shape, its type, what they are made of.
constexpr int kMostUncovered = 4;

// Messages contain line numbers, which change when a line is added.
std::string WithoutNumbers(const std::string& text) {
  std::string out;
  for (const char c : text)
    if (c < '0' || c > '9') out += c;
  return out;
}

std::string KeyOf(const Finding& finding) {
  std::string key = finding.rule + "\n" + WithoutNumbers(finding.message);
  for (const TextEdit& edit : finding.edits) key += "\n" + edit.replacement;
  return key;
}

std::string EditsKey(const Finding& finding) {
  std::string key;
  for (const TextEdit& edit : finding.edits)
    key += std::to_string(edit.start) + " " + std::to_string(edit.end) + " " + edit.replacement + "\n";
  return key;
}

std::string ErrorKey(const Finding& finding) {
  return finding.rule + "\n" + WithoutNumbers(finding.message);
}

std::map<std::string, int> Errors(const LintReport& report) {
  std::map<std::string, int> out;
  for (const Finding& finding : report.findings)
    if (finding.severity == Severity::kError) ++out[ErrorKey(finding)];
  return out;
}

std::string InFileEndings(std::string replacement, bool crlf) {
  return crlf ? ReplaceAll(std::move(replacement), "\n", "\r\n") : replacement;
}

class Mender {
 public:
  Mender(const std::string& path, const std::string& text, const LintOptions& options)
      : path_(path), options_(options), crlf_(Contains(text, "\r\n")) {
    out_.text = text;
    out_.report = LintSource(path_, out_.text, options_);
  }

  MendedSource Run() {
    for (int round = 0; round < kMostMendingRounds && Round(); ++round) {
    }
    return std::move(out_);
  }

 private:
  // Applies all fixes at once. If that makes the file worse, applies the first one that does not.
  bool Round() {
    std::vector<Finding> wanted;
    for (const Finding& finding : out_.report.findings) {
      if (finding.edits.empty() || dropped_.count(KeyOf(finding)) != 0) continue;
      wanted.push_back(finding);
      for (TextEdit& edit : wanted.back().edits) edit.replacement = InFileEndings(edit.replacement, crlf_);
    }
    if (wanted.empty()) return false;
    if (Apply(wanted)) return true;
    for (const Finding& finding : wanted) {
      if (wanted.size() > 1 && Apply({finding})) return true;
      dropped_.insert(KeyOf(finding));
    }
    return true;
  }

  // An error that the fixes uncover is fixed with them if it can be. If one is left, nothing is changed.
  bool Apply(const std::vector<Finding>& findings) {
    MendedSource next = out_;
    bool hides = false;
    if (!Step(findings, &next, &hides)) return false;
    for (int more = 0; IsWorse(next.report, hides); ++more) {
      if (more == kMostUncovered || !Step(Uncovered(next.report), &next, &hides)) return false;
    }
    out_ = std::move(next);
    return true;
  }

  bool Step(const std::vector<Finding>& findings, MendedSource* next, bool* hides) const {
    int applied = 0;
    std::vector<size_t> taken;
    std::string text = ApplyEdits(next->text, findings, &applied, &taken);
    if (applied == 0 || text == next->text) return false;
    // One change may fix several findings, such as an import or a parameter that is used twice.
    std::set<std::string> recorded;
    for (const size_t index : taken) {
      *hides = *hides || HidesOthers(findings[index].rule);
      if (recorded.insert(EditsKey(findings[index])).second) Record(findings[index], next);
    }
    next->report = LintSource(path_, text, options_);
    next->text = std::move(text);
    return true;
  }

  // The errors that were not there before, if they have a fix.
  std::vector<Finding> Uncovered(const LintReport& report) const {
    const std::map<std::string, int> before = Errors(out_.report);
    std::vector<Finding> out;
    for (const Finding& finding : report.findings) {
      if (finding.severity != Severity::kError || finding.edits.empty() ||
          before.count(ErrorKey(finding)) != 0)
        continue;
      out.push_back(finding);
      for (TextEdit& edit : out.back().edits) edit.replacement = InFileEndings(edit.replacement, crlf_);
    }
    return out;
  }

  bool IsWorse(const LintReport& report, bool hides) const {
    const std::map<std::string, int> before = Errors(out_.report);
    const std::map<std::string, int> after = Errors(report);
    return std::any_of(after.begin(), after.end(), [&](const auto& error) {
      const auto known = before.find(error.first);
      if (known != before.end() && known->second >= error.second) return false;
      return !hides || StartsWith(error.first, "syntax\n");
    });
  }

  static void Record(const Finding& finding, MendedSource* next) {
    AppliedFix fix;
    fix.rule = finding.rule;
    fix.line = finding.line;
    const std::string after = ApplyEdits(next->text, {finding}, nullptr);
    for (const DiffLine& line : DiffLines(next->text, after)) {
      std::string* side = line.sign == '-' ? &fix.before : line.sign == '+' ? &fix.after : nullptr;
      if (side == nullptr) continue;
      if (!side->empty()) *side += '\n';
      *side += line.text;
    }
    next->fixes.push_back(std::move(fix));
  }

  const std::string& path_;
  const LintOptions& options_;
  const bool crlf_;
  MendedSource out_;
  std::set<std::string> dropped_;
};

}  // namespace

MendedSource MendSource(const std::string& path, const std::string& text, const LintOptions& options) {
  return Mender(path, text, options).Run();
}

OrderedJson ToJson(const std::vector<AppliedFix>& fixes) {
  OrderedJson json = OrderedJson::array();
  for (const AppliedFix& fix : fixes)
    json.push_back({{"rule", fix.rule}, {"line", fix.line}, {"before", fix.before}, {"after", fix.after}});
  return json;
}

}  // namespace hone

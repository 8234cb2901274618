#include "analysis/finding.h"

#include <algorithm>

#include "base/json.h"

namespace hone {

const char* SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kNote:
      return "note";
  }
  return "note";
}

OrderedJson ToJson(const std::vector<Finding>& findings) {
  OrderedJson json = OrderedJson::array();
  for (const Finding& finding : findings)
    json.push_back({{"rule", finding.rule},
                    {"severity", SeverityName(finding.severity)},
                    {"line", finding.line},
                    {"column", finding.column},
                    {"message", finding.message},
                    {"fix", finding.fix},
                    {"fixable", !finding.edits.empty()}});
  return json;
}

std::string ApplyEdits(const std::string& text, const std::vector<Finding>& findings, int* applied,
                       std::vector<size_t>* places) {
  std::vector<TextEdit> taken;
  const auto clashes = [&](const TextEdit& edit) {
    return std::any_of(taken.begin(), taken.end(), [&](const TextEdit& other) {
      const bool same =
          edit.start == other.start && edit.end == other.end && edit.replacement == other.replacement;
      const bool both_insert = edit.start == edit.end && other.start == other.end;
      return !same && !both_insert && edit.start < std::max(other.end, other.start + 1) &&
             other.start < std::max(edit.end, edit.start + 1);
    });
  };
  for (const Finding& finding : findings) {
    if (finding.edits.empty()) continue;
    if (std::any_of(finding.edits.begin(), finding.edits.end(), clashes)) continue;
    if (applied != nullptr) ++*applied;
    if (places != nullptr) places->push_back(static_cast<size_t>(&finding - findings.data()));
    for (const TextEdit& edit : finding.edits) {
      const bool known = std::any_of(taken.begin(), taken.end(), [&](const TextEdit& other) {
        return edit.start == other.start && edit.end == other.end && edit.replacement == other.replacement;
      });
      if (!known && edit.start <= edit.end && edit.end <= text.size()) taken.push_back(edit);
    }
  }
  std::stable_sort(taken.begin(), taken.end(),
                   [](const TextEdit& a, const TextEdit& b) { return a.start < b.start; });
  std::string out;
  size_t done = 0;
  for (const TextEdit& edit : taken) {
    if (edit.start < done) continue;
    out.append(text, done, edit.start - done);
    out += edit.replacement;
    done = edit.end;
  }
  out.append(text, done, std::string::npos);
  return out;
}

}  // namespace hone

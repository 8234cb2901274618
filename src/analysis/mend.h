// Mechanical repair: applies the edits of findings, analyses the file again, and repeats until nothing can be
// fixed. A fix is kept only if the file still parses and no new error is reported; a new error that has a fix
// itself is fixed with it. It is a pure, deterministic function of the text, and repairing a repaired file
// changes nothing.
#pragma once

#include <string>
#include <vector>

#include "analysis/lint.h"

namespace hone {

struct AppliedFix {
  std::string rule;
  uint32_t line = 0;   // line in the text before this fix
  std::string before;  // the lines that it removed
  std::string after;   // the lines that it inserted
};

struct MendedSource {
  std::string text;
  std::vector<AppliedFix> fixes;  // in the order of application
  LintReport report;              // for the repaired text

  bool changed() const { return !fixes.empty(); }
};

MendedSource MendSource(const std::string& path, const std::string& text, const LintOptions& options = {});

// The JSON has rule, line, before and after.
OrderedJson ToJson(const std::vector<AppliedFix>& fixes);

}  // namespace hone

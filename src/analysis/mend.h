// Mechanical repair: applies the edits that findings carry, reads the file again, and goes on until no
// finding can be mended. A fix is kept only if the file still parses and no error is reported that was not
// there before. Pure: text in, text out, the same for the same text; mending a mended file changes nothing.
#pragma once

#include <string>
#include <vector>

#include "analysis/lint.h"

namespace hone {

struct AppliedFix {
  std::string rule;
  uint32_t line = 0;   // in the text before this fix
  std::string before;  // the lines that it took away, and
  std::string after;   // those it put there
};

struct MendedSource {
  std::string text;
  std::vector<AppliedFix> fixes;  // in the order they were made
  LintReport report;              // of the mended text

  bool changed() const { return !fixes.empty(); }
};

MendedSource MendSource(const std::string& path, const std::string& text, const LintOptions& options = {});

// rule, line, before, after.
OrderedJson ToJson(const std::vector<AppliedFix>& fixes);

}  // namespace hone

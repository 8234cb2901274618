// Static analysis of one candidate, for the judge, the pipeline and `hone lint`. It is a pure function from
// text to report: no files, no globals, thread-safe.
#pragma once

#include <string>
#include <vector>

#include "analysis/candidate.h"
#include "analysis/finding.h"
#include "analysis/kernel_class.h"
#include "base/json.h"

namespace hone {

struct LintReport {
  std::string path;
  KernelClass kernel_class = KernelClass::kNone;
  std::vector<Evidence> evidence;
  OrderedJson facts;
  std::vector<Finding> findings;  // sorted by line

  bool has_errors() const;
};

// The options for a machine, from its worker's report: the Triton release and the device's name. Unreported
// ones stay open. The judge and mechanical repair both use this.
LintOptions LintOptionsOn(const Json& facts, std::string task_text);

// The path's suffix determines the language: .cu, .cpp and the like are CUDA, all others Python.
LintReport LintSource(const std::string& path, const std::string& text, const LintOptions& options = {});

OrderedJson ToJson(const LintReport& report);
OrderedJson ToSarif(const std::vector<LintReport>& reports);
// For users: path:line:column, the message, the line with a caret, and the fix.
std::string ToText(const LintReport& report, const std::string& source_text, bool color);

}  // namespace hone

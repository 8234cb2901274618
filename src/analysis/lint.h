// Static analysis of one candidate, as the judge, the pipeline and `hone lint` call it. Pure: text in, report
// out; no files, no globals, safe to call from many threads at once.
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
  std::vector<Finding> findings;  // in the order of lines

  bool has_errors() const;
};

// The options for a machine, from what its worker reports: the release of Triton and the name of the device.
// What it does not report stays open. The judge and mechanical repair both use this.
LintOptions LintOptionsOn(const Json& facts, std::string task_text);

// The language follows from the path's suffix: .cu, .cpp and the like are CUDA, everything else Python.
LintReport LintSource(const std::string& path, const std::string& text, const LintOptions& options = {});

OrderedJson ToJson(const LintReport& report);
OrderedJson ToSarif(const std::vector<LintReport>& reports);
// For people: path:line:column, the message, the line with a caret, the fix.
std::string ToText(const LintReport& report, const std::string& source_text, bool color);

}  // namespace hone

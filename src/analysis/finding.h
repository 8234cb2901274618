// One message of static analysis about a place in a file, with the edits of an automatic fix.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json_fwd.h"

namespace hone {

enum class Severity { kError, kWarning, kNote };

const char* SeverityName(Severity severity);

// Replaces [start, end) of the file with `replacement`.
struct TextEdit {
  uint32_t start = 0;
  uint32_t end = 0;
  std::string replacement;
};

struct Finding {
  std::string rule;
  Severity severity = Severity::kWarning;
  uint32_t start = 0;  // byte offsets into the file
  uint32_t end = 0;
  uint32_t line = 0;  // 1-based
  uint32_t column = 0;
  std::string message;
  std::string fix;
  // Not empty if --fix can apply it, which requires a single right answer (analysis/fixes).
  std::vector<TextEdit> edits;
};

// The JSON form: rule, severity, line, column, message, fix, fixable.
OrderedJson ToJson(const std::vector<Finding>& findings);

// Applies every edit that does not overlap an earlier one. `applied` counts the fixed findings, and `taken`
// gets their indices in `findings`.
std::string ApplyEdits(const std::string& text, const std::vector<Finding>& findings, int* applied,
                       std::vector<size_t>* taken = nullptr);

}  // namespace hone

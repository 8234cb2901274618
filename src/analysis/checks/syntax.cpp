// syntax: the file does not parse, so it cannot be imported.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "base/text.h"

namespace hone {

void CheckSyntax(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr && candidate.cuda.empty())
    sink->AddAt(0, 0, Severity::kWarning, "the file is too long to be a candidate and was not analysed",
                "Shorten it.");
  if (candidate.python == nullptr) return;
  const SyntaxTree& tree = candidate.python->syntax;
  if (tree.gave_up()) {
    sink->AddAt(0, 0, Severity::kWarning,
                "the file takes too long to parse, or nests too deeply, and was not analysed", "Shorten it.");
    return;
  }
  const SyntaxNode* error = tree.first_error();
  if (error == nullptr) return;
  const uint32_t line = candidate.source.PositionAt(error->start).line;
  const std::string_view text = Trim(candidate.source.Line(line));
  for (uint32_t first = 1; first <= candidate.source.line_count(); ++first) {
    if (!StartsWith(candidate.source.Line(first), "```")) continue;
    const uint32_t start = candidate.source.LineStart(first);
    sink->AddAt(start, start + 3, Severity::kError, "a Markdown fence (```) is not Python",
                "Remove the line.");
    return;
  }
  // The grammar lacks one construct of current Python: operators inside a starred item.
  const bool starred = Contains(text, ", *") || Contains(text, "return *") || Contains(text, "= *");
  sink->AddAt(
      error->start, std::max(error->end, error->start + 1), starred ? Severity::kWarning : Severity::kError,
      error->missing ? fmt::format("Python expects {} here", error->type)
                     : fmt::format("this does not parse as Python: {}", SafeForTerminal(text.substr(0, 80))),
      "Correct the syntax; nothing in the file can run until it parses.");
}

}  // namespace hone
